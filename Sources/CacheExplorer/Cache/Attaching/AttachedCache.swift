import CacheEngine
import CacheEngineTesting

/// A cache that is shown and that another program made.
struct AttachedCache: Sendable {
  let live: LiveCache
  let levels: [LevelRow]
  let operators: [OperatorRow]
  let chain: [ChainPart]
  let attachment: Attachment
  /// What is at the left of the header.
  let title: String
  /// What is at the head of the Config screen.
  let source: String
  let settings: [ConfigurationSetting]
  /// What is told first.
  let notes: [String]
  /// Tells what becomes of it.
  var follow: Follower.Follow = { _ in }

  /// The model of its first picture.
  var model: Model {
    var model = Model(title: title, levels: levels, operators: operators, chain: chain, now: live.clock.now)
    model.attachment = attachment
    model.config = config
    return model
  }

  /// What a model keeps when the cache is reached anew.
  var replacement: Replacement {
    Replacement(title: title, levels: levels, operators: operators, chain: chain, config: config)
  }

  private var config: ConfigSheet {
    var config = ConfigSheet()
    (config.file, config.settings) = (source, settings)
    return config
  }
}

extension ConfigurationSetting {
  /// A line of the Config screen that stands in no file.
  init(_ owner: String, _ field: String? = nil, _ value: String = "") {
    self.init(depth: 0, owner: owner, field: field, value: value)
  }
}
