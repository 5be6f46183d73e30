/// What this program is called.
enum ProcessName {
  static var current: String {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return name.isEmpty ? "app" : name
  }
}
