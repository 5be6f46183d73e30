import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer

#if Proxy
import CacheEngineHTTP
#endif

/// Everything that was ever found stays found.
@Suite(.timeLimit(.minutes(10))) struct FuzzCorpusTests {
  @Test("Every file of the corpus is read or refused, and what must hold holds", arguments: FuzzTarget.allCases)
  func corpus(_ target: FuzzTarget) async throws {
    let files = try FileManager.default.contentsOfDirectory(at: target.folder, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      do { try await target.run([UInt8](Data(contentsOf: file))) } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
    try await target.run([])
  }

  @Test("Seeds are what their parsers read, so that fuzzing begins behind the door")
  func seeds() async throws {
    let list = try Data(contentsOf: FuzzTarget.propertyList.folder.appending(path: "binary"))
    #expect(try await PropertyListTransformer<AnyList>().transform(list).depth == 2)
    let held = MemoryCacheLevel<String, Data>(clock: ManualClock())
    let snapshot = FuzzTarget.snapshot.folder.appending(path: "plain")
    #expect(try await held.restore(from: snapshot.path, keys: .utf8, values: .data)?.restored == 3)
    let folder = try ScratchFolder()
    for (name, target) in [(FuzzTarget.segmentName, FuzzTarget.segment), ("index", .checkpoint)] {
      try folder.write([UInt8](Data(contentsOf: target.folder.appending(path: "plain"))), to: name)
    }
    let level = try DiskCacheLevel<String, Data>(directory: folder.path)
    #expect(try await level.get("b") == Data("two".utf8))
    #expect(try await level.verify().damaged.isEmpty)
    try await level.close()
    var playback = Playback(
      try Recording([UInt8](Data(contentsOf: FuzzTarget.recording.folder.appending(path: "session"))), file: "session"))
    playback.go(to: .max)
    #expect(playback.failure == nil && playback.place == 4)
    #if Proxy
    let responses = try Data(contentsOf: FuzzTarget.variants.folder.appending(path: "two"))
    #expect(try ByteCoding<StoredVariants>.storedVariants.decode(responses) == FuzzSeeds.storedVariants)
    #endif
  }
}
