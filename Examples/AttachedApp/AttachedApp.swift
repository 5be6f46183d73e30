// An app whose cache can be inspected while it runs:
//
//     swift run AttachedApp ./run/cache.sock
//     cache-explorer attach ./run/cache.sock        (in another terminal)
//
// It reads thumbnails from its cache, some far more often than others, until ^C or SIGTERM ends it.

import CacheEngine
import CacheEngineInspector
import Foundation

@main
struct AttachedApp {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let allowsWrites = arguments.contains("--allow-writes")
    let isQuiet = arguments.contains("--quiet")
    arguments.removeAll { $0.hasPrefix("--") }
    guard let socket = arguments.first, arguments.count == 1 else {
      fail("usage: AttachedApp SOCKET [--allow-writes] [--quiet]")
    }

    // The inspector is an observer like any other; while nobody is attached, it costs next to nothing.
    let inspector = CacheInspector()
    let memory = MemoryCacheLevel<String, Data>(
      name: "memory", capacity: 256 << 10, expiry: .after(.seconds(60)),
      removalListener: inspector.removals(from: "memory"))
    let files = FileManager.default.temporaryDirectory.appending(path: "attached-app-\(UUID().uuidString)")
    let disk = try DiskCacheLevel<String, Data>(
      directory: files.path, capacity: 4 << 20, name: "disk", removalListener: inspector.removals(from: "disk"))
    let cache =
      memory.observed(as: "memory", by: inspector)
      .compose(disk.observed(as: "disk", by: inspector))
      .compose(thumbnails.observed(as: "thumbnails", by: inspector))
      .pooled(observer: inspector)
      .traced(by: inspector)

    let serving: InspectorServer
    do {
      serving = try CacheInspector.serve(cache, at: socket, name: "thumbnails", allowsWrites: allowsWrites)
    } catch {
      try? FileManager.default.removeItem(at: files)
      fail("error: \(error)")
    }

    let work = Task {
      var generator = SystemRandomNumberGenerator()
      while !Task.isCancelled {
        // With --quiet it reads nothing, so that whoever attaches sees only the effects of their own commands.
        if !isQuiet {
          let photo = Int(400 * pow(Double.random(in: 0..<1, using: &generator), 3))
          _ = try await cache.get("photo:\(photo)")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    var signals: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { work.cancel() }
      #if canImport(Darwin)
      // On Linux, Dispatch catches what it watches; what came before that would be lost.
      signal(number, SIG_IGN)
      #endif
      await withCheckedContinuation { continuation in
        source.setRegistrationHandler { continuation.resume() }
        source.activate()
      }
      signals.append(source)
    }
    FileHandle.standardOutput.write(Data("serving at \(serving.path)\n".utf8))
    let result = await work.result
    signals.forEach { $0.cancel() }
    serving.close()
    try await disk.close()
    try FileManager.default.removeItem(at: files)
    if case .failure(let error) = result, !(error is CancellationError) { throw error }
  }

  /// Makes what is in neither level, which takes a while.
  private static let thumbnails = BasicFetcher<String, Data>(name: "thumbnails") { key in
    try await Task.sleep(for: .milliseconds(15))
    return Data(repeating: 0x2e, count: 1_024 + Int(key.utf8.reduce(0 as UInt) { $0 &* 31 &+ UInt($1) } % 3_000))
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
  }
}
