package import ExplorerCommands

/// What the Config screen shows.
package struct ConfigSheet: Sendable, Equatable, Codable {
  /// The file, or the demo.
  package var file = ""
  package var settings: [ConfigurationSetting] = []
  /// What is allowed and probably not meant.
  package var warnings: [ConfigurationProblem] = []
  /// The chosen row: of the warnings, and after them of the settings.
  package var row = 0
  /// What a reload would change, while the question waits; or why the file cannot be loaded.
  package var plan: Plan?
  /// There is no file that could be read again while it is in force: it is a demonstration's, or a proxy's.
  ///
  /// `nil` for `false`: recordings of others do without it.
  package var isFixed: Bool?

  package enum Plan: Sendable, Equatable, Codable {
    case changes([String])
    case refused([ConfigurationProblem])
  }

  // As it was called when it was the line at the top.
  private enum CodingKeys: String, CodingKey { case file, settings, warnings, row = "top", plan, isFixed }

  package init() {}

  package func origin(of setting: ConfigurationSetting) -> String {
    setting.place.map { "\(file):\($0.line)" } ?? (setting.field == nil ? "" : "default")
  }
}
