import CacheEngine
import CacheEngineTesting
package import ExplorerModel
package import ExplorerText

/// A cache that is shown and that another program made.
package struct AttachedCache: Sendable {
  package let live: LiveCache
  package let levels: [LevelRow]
  package let operators: [OperatorRow]
  package let chain: [ChainPart]
  package let attachment: Attachment
  /// What is at the left of the header.
  package let title: String
  /// What is at the head of the Config screen.
  package let source: String
  package let settings: [ConfigurationSetting]
  /// What is told first.
  package var notes: [String]
  /// What is shown first; `nil` for the overview.
  package var page: Page?
  /// Tells what becomes of it.
  package var follow: Follower.Follow = { _ in }
  /// Shows another one of several apps.
  package var choose: (@Sendable (Int) -> Void)?
  /// What `--json` prints; `nil` for the statistics.
  package var report: (@Sendable () -> JSONText)?
  /// Looks once more, and tells the model of a picture what no level tells.
  package var refresh: @Sendable () async -> [Message] = { [] }

  /// The model of its first picture.
  package var model: Model {
    var model = Model(title: title, levels: levels, operators: operators, chain: chain, now: live.clock.now)
    model.attachment = attachment
    model.config = config
    return model
  }

  /// What a model keeps when the cache is reached anew.
  package var replacement: Replacement {
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
  package init(_ owner: String, _ field: String? = nil, _ value: String = "") {
    self.init(depth: 0, owner: owner, field: field, value: value)
  }
}
