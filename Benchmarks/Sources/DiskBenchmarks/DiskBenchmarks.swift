import CacheEngine
import Foundation

/// Measures the disk level beside what people use in its place.
///
/// All subjects of a table take their turns in every round, so that a change of the machine's speed meets all of them.
@main
struct DiskBenchmarks {
  static func main() async throws {
    guard let settings = Settings(Array(CommandLine.arguments.dropFirst())) else {
      print(Settings.usage)
      exit(2)
    }
    // A task and not the main actor: that is where most callers are.
    try await Task.detached { try await run(settings) }.value
  }

  private static func run(_ settings: Settings) async throws {
    var all: [Table] = []
    func show(_ tables: [Table]) {
      all += tables
      if !settings.isJSON { for table in tables { print(table.printed()) } }
      fflush(nil)
    }
    if settings.asks(for: "points") {
      for (bytes, count) in [(1 << 10, 10_000), (64 << 10, 500), (1 << 20, 50)] {
        show(try await Points(bytes: bytes, count: count, settings: settings).tables())
      }
    }
    if settings.asks(for: "main") { show(try await FromMainActor(settings: settings).tables()) }
    if settings.asks(for: "million") { show(try await Million(settings: settings).tables()) }
    if settings.asks(for: "tasks") { show(try await ManyTasks(settings: settings).tables()) }
    if settings.asks(for: "group") { show(try await GroupCommit(settings: settings).tables()) }
    if settings.asks(for: "amplification") { show(try await Amplification(settings: settings).tables()) }
    if settings.asks(for: "opening") { show(try await Opening(settings: settings).tables()) }
    if settings.asks(for: "listing") { show(try await Listing(settings: settings).tables()) }
    if settings.asks(for: "churn") { show(try await Churn(settings: settings).tables()) }
    if settings.isJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(all), as: UTF8.self))
    }
  }
}
