import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Testing

struct SimulatedSharedStoreTests {
  @Test("who begins to listen by a client that is cut off is told that it hears when it does")
  func cutOff() async throws {
    let client = SimulatedSharedStore().client("here")
    client.turn(deaf: true)
    let feed = client.changes(of: [[]])
    feed.send(.names([[1]]))
    var told = feed.makeAsyncIterator()
    #expect(await told.next() == .names([[1]]))
    client.turn(deaf: false)
    #expect(await told.next() == .everything(.connected))
  }
}
