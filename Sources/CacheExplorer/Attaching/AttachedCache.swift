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
  let follow: Explorer.Follow

  /// The model of its first picture.
  func model(_ options: ScreenOptions) -> Model {
    var model = Model(title: title, levels: levels, operators: operators, chain: chain, now: live.clock.now)
    model.attachment = attachment
    options.apply(to: &model)
    if attachment.whyReadOnly != nil { model.isReadOnly = true }
    model.config.file = source
    model.config.settings = settings
    return model
  }
}

extension ConfigurationSetting {
  /// A line of the Config screen that stands in no file.
  init(_ owner: String, _ field: String? = nil, _ value: String = "") {
    self.init(depth: 0, owner: owner, field: field, value: value)
  }
}
