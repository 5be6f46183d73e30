import CacheCore
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheDisk

/// What is told where the system has nothing left to give.
extension SharedDirectoryTests {
  @Test("who cannot look for the owner says what failed and where, not that the directory is of no use")
  func noDescriptorToLook() async throws {
    let owner = try open()
    // Whoever opens the directory does so once, looks for the lock of it, and then for its owner.
    let looks = Mutex((count: 0, isOut: true))
    var calls = FileCalls()
    calls.open = { [real = calls.open, path = folder.path] directory, name, flags in
      let isRefused = looks.withLock { looks in
        if name == path { looks.count += 1 }
        return name == path && looks.count > 2 && looks.isOut
      }
      guard isRefused else { return real(directory, name, flags) }
      errno = EMFILE
      return -1
    }
    let error = #expect(throws: CacheError.self) { try open(apart: true, calls: calls) }
    #expect(error?.code == .diskWriteFailed)
    #expect(error?.message == "open: Too many open files, for the store in \(folder.path)")
    looks.withLock { $0.isOut = false }
    let guest = try open(apart: true, calls: calls)
    try await guest.set(value(1), forKey: "a")
    #expect(try await owner.get("a") == value(1))
  }

  @Test("who hung up while they waited, or a signal, keeps nobody else out", arguments: [ECONNABORTED, EINTR])
  func goneAgain(code: Int32) async throws {
    let tries = Mutex<[ContinuousClock.Instant]>([])
    var calls = FileCalls()
    calls.accept = { [real = calls.accept] listener in
      let count = tries.withLock { tries in
        tries.append(.now)
        return tries.count
      }
      guard count < 64 else { return real(listener) }
      errno = code
      return -1
    }
    let owner = try open(calls: calls)
    let guest = try open(apart: true)
    try await guest.set(value(1), forKey: "a")
    #expect(try await owner.get("a") == value(1))
    let times = tries.withLock { $0 }
    // Who rests for 20 ms after each needs 1.26 s.
    try #require(times.count >= 64)
    #expect(times[0].duration(to: times[63]) < .seconds(1))
  }

  @Test("a question for which there is no descriptor fails with the name of its directory")
  func noDescriptorToAsk() async throws {
    let guest = try two().guest
    let store = try #require(guest.elsewhere as? CommonStore)
    let error = store.failure(SystemFailure("memfd_create", EMFILE))
    #expect(error.code == .diskWriteFailed)
    #expect(error.message == "memfd_create: Too many open files, for the store in \(folder.path)")
  }
}
