import CacheEngine
import Synchronization
import TestSupport
import Testing

@Suite struct CacheErrorTests {
  @Test("errors are equal if they say the same of the same level")
  func equality() {
    let error = CacheError(.status, "not found", level: "api", underlying: CacheError(.unreachable, "down"))
    #expect(error == CacheError(.status, "not found", level: "api", underlying: CacheError(.unreachable, "down")))
    var others = [CacheError](repeating: error, count: 6)
    others[0].code = .timedOut
    others[1].level = nil
    others[2].message = "gone"
    others[3].underlying = CacheError(.unreachable, "up")
    others[4].status = 404
    others[5].failures = [("disk", CacheError(.diskWriteFailed, "full"))]
    for other in others { #expect(other != error, "\(other)") }
    var same = error
    same.failures = others[5].failures
    #expect(same == others[5])
    same.failures = [("disk", CacheError(.diskWriteFailed, "broken"))]
    #expect(same != others[5])
  }

  @Test("of many failures the first ten are told, with the number of the others, and all are there to be asked for")
  func manyFailures() {
    var error = CacheError(.writeFailed, "no level could be written")
    error.failures = (0..<10).map { ("l\($0)", CacheError(.diskWriteFailed, "full")) }
    #expect(error.description.hasSuffix("; l8: full; l9: full"))
    error.failures += (10..<100_000).map { ("l\($0)", CacheError(.diskWriteFailed, "full")) }
    #expect(error.description.hasSuffix("; l8: full; l9: full; and 99990 more"))
    #expect(error.failures.count == 100_000)
  }

  @Test("messages show the beginning of a key, however long it or its first character is", arguments: ["k", "\u{301}"])
  func longKeys(part: String) async throws {
    let key = "e" + String(repeating: part, count: 1_000_000)
    let memory = MemoryCacheLevel<String, Int>()
    let load = memory.pooled()
    let error = await #expect(throws: CacheError.self) { try await memory.require(key) }
    let circular = await #expect(throws: CacheError.self) {
      try await load.value(forKey: key) { try await load.value(forKey: key) { 1 } }
    }
    let stack = Mutex<BasicCache<String, Int>?>(nil)
    let lower = HookedLevel(base: memory) { key, value in try await stack.withLock { $0 }?.set(value, forKey: key) }
    let cache = MemoryCacheLevel<String, Int>().compose(lower, partialStores: .refused).normalize()
    stack.withLock { $0 = cache }
    let written = await #expect(throws: CacheError.self) { try await cache.set(1, forKey: key) }
    stack.withLock { $0 = nil }
    let inside = written?.failures.first?.error as? CacheError ?? written
    for (error, code) in [(error, CacheError.Code.valueNotInCache), (circular, .circular), (inside, .circular)] {
      #expect(error?.code == code)
      #expect(error?.description.contains("e" + String(repeating: part, count: 199) + "…") == true)
      #expect((error?.description.utf8.count ?? 0) < 1_000)
    }
    #expect(CacheError(missing: "key", reason: .absent).message == "there is no value for the key key (absent)")
  }
}
