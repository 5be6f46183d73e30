import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

extension SharedCacheLevelTests {
  @Test("a value that is cleared away while a condition on it is judged does not meet it", arguments: [nil, "x"])
  func goesBetween(tag: String?) async throws {
    let client = store.client("here")
    let (here, there) = (try level(client), try level(store.client("there")))
    try await here.set(Data([1]), forKey: "a", tags: ["x"])
    let reads = Tally()
    client.onCall { call in
      // The entry, its tags, and then once more what is to stand when the new one is written.
      guard case .read = call, reads.add() == 3 else { return .done }
      if let tag { try await there.removeAll(tagged: tag) } else { try await there.clear() }
      return .done
    }
    #expect(try await !here.store(Data([2]), forKey: "a", terms: StoreTerms(), if: .present))
    #expect(try await here.lookup("a").missReason == .absent)
  }

  @Test("the store's time goes on where it is not told any more")
  func timeUntold() async throws {
    let client = store.client("here")
    let here = try level(client)
    try await here.store(Data([1]), forKey: "a", terms: StoreTerms(expiry: .after(.seconds(700))))
    client.onCall { call in call == .time ? .refused : .done }
    clock.advance(by: .seconds(650))
    #expect(try await here.get("a") == Data([1]))
    clock.advance(by: .seconds(50))
    #expect(try await here.get("a") == nil)
  }
}
