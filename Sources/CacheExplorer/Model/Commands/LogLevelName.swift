/// The names of log levels, from the least severe.
enum LogLevelName {
  static let all = ["trace", "debug", "info", "notice", "warning", "error"]

  static func check(_ text: String) throws(QuantityError) -> String {
    guard all.contains(text) else {
      throw QuantityError("there is no log level “\(text)”", NearestName.remedy(for: text, among: all))
    }
    return text
  }
}
