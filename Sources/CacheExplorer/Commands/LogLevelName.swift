package import ExplorerText

/// The names of log levels, from the least severe.
package enum LogLevelName {
  package static let all = ["trace", "debug", "info", "notice", "warning", "error"]

  package static func check(_ text: String) throws(QuantityError) -> String {
    guard all.contains(text) else {
      throw QuantityError("there is no log level “\(text)”", NearestName.remedy(for: text, among: all))
    }
    return text
  }
}
