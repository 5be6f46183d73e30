import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

/// Writes that end before anything is sent: what stood there stays, and nothing is in doubt.
@Suite(.timeLimit(.minutes(10))) struct UnwrittenTests {
  private let store = SimulatedSharedStore()

  @Test("a first write that is cancelled while the time is asked for")
  func cancelled() async throws {
    let client = store.client("here")
    let here = try SharedCacheLevel<String, Data>(client, namespace: "test", valueCoding: .data)
    let gate = Gate()
    client.onCall { _ in
      try await gate.pass()
      return .done
    }
    let write = Task { try await here.set(Data([1]), forKey: "a") }
    await gate.arrivals(1)
    write.cancel()
    await #expect(throws: CancellationError.self) { try await write.value }
    #expect(here.unsettledCount == 0)
  }

  @Test("a value that cannot be sealed", arguments: [nil, StoreCondition.present])
  func unsealed(condition: StoreCondition?) async throws {
    let cipher = FailingCipher()
    let here = try SharedCacheLevel<String, Data>(
      store.client("here"), namespace: "test", encryption: SharedEncryption(cipher, secret: TestCipher.secret),
      valueCoding: .data)
    try await here.set(Data([1]), forKey: "a")
    cipher.fails.withLock { $0 = true }
    let error = await #expect(throws: CacheError.self) {
      if let condition {
        _ = try await here.store(Data([2]), forKey: "a", terms: StoreTerms(), if: condition)
      } else {
        try await here.set(Data([2]), forKey: "a")
      }
    }
    #expect(error?.code == .encryptionFailed)
    #expect(here.unsettledCount == 0)
    #expect(try await here.get("a") == Data([1]))
  }
}

/// Seals until it cannot any more.
private final class FailingCipher: StoreCipher {
  let fails = Mutex(false)
  private let cipher = TestCipher()

  var sealingKey: String { cipher.sealingKey }
  var openingKeys: Set<String> { cipher.openingKeys }

  func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    if fails.withLock(\.self) { throw CacheError(.simulated, "no more") }
    return try cipher.seal(bytes, binding: binding)
  }

  func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] { try cipher.open(sealed, binding: binding) }
  func key(of sealed: [UInt8]) -> String? { cipher.key(of: sealed) }
  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] { cipher.name(bytes, secret: secret) }
}
