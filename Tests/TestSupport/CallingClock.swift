package import CacheEngine
package import CacheEngineTesting
import Synchronization

/// A clock of somebody's own, which may use what is timed by it whenever it is read.
package final class CallingClock: CacheClock {
  private let base: ManualClock
  private let call = Mutex<(@Sendable () -> Void)?>(nil)

  package init(_ base: ManualClock) { self.base = base }

  package func onRead(_ body: (@Sendable () -> Void)?) { call.withLock { $0 = body } }

  package var now: CacheInstant {
    call.withLock { $0 }?()
    return base.now
  }
  package var timeSinceEpoch: Duration { base.timeSinceEpoch }
  package var bootIdentifier: UInt64 { base.bootIdentifier }
  package var minimumResolution: Duration { base.minimumResolution }
  package func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    try await base.sleep(until: deadline, tolerance: tolerance)
  }
}
