/// Where the program begins.
@main
enum Program {
  @MainActor
  static func main() {
    Task { await CacheExplorer.main() }
    MainLoop.run()
  }
}
