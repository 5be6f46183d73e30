/// What the Config screen shows.
struct ConfigSheet: Sendable, Equatable {
  /// The file, or the demo.
  var file = ""
  var settings: [ConfigurationSetting] = []
  /// What is allowed and probably not meant.
  var warnings: [ConfigurationProblem] = []
  var top = 0
  /// What a reload would change, while the question waits; or why the file cannot be loaded.
  var plan: Plan?

  enum Plan: Sendable, Equatable {
    case changes([String])
    case refused([ConfigurationProblem])
  }

  init() {}

  func origin(of setting: ConfigurationSetting) -> String {
    setting.place.map { "\(file):\($0.line)" } ?? (setting.field == nil ? "" : "default")
  }
}
