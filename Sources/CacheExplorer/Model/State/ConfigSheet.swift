/// What the Config screen shows.
package struct ConfigSheet: Sendable, Equatable, Codable {
  /// The file, or the demo.
  package var file = ""
  package var settings: [ConfigurationSetting] = []
  /// What is allowed and probably not meant.
  package var warnings: [ConfigurationProblem] = []
  package var top = 0
  /// What a reload would change, while the question waits; or why the file cannot be loaded.
  package var plan: Plan?

  package enum Plan: Sendable, Equatable, Codable {
    case changes([String])
    case refused([ConfigurationProblem])
  }

  package init() {}

  package func origin(of setting: ConfigurationSetting) -> String {
    setting.place.map { "\(file):\($0.line)" } ?? (setting.field == nil ? "" : "default")
  }
}
