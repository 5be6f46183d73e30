/// The formats that `export` writes, told by how the file's name ends.
package enum ExportFormat: String, CaseIterable, Sendable {
  case json, csv, txt
  /// What was recorded, for asciinema.
  case cast
  /// The picture, as a vector graphic.
  case svg

  package init?(file: String) {
    guard let format = Self.allCases.first(where: { file.hasSuffix(".\($0.rawValue)") && file.count > 4 }) else {
      return nil
    }
    self = format
  }
}
