@main
struct CacheExplorer {
  static func main() async {}
}
