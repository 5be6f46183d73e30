package import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a disk level hears of other levels on the directory that it shares.
package enum DiskChange: Sendable {
  case key([UInt8])
  case tag(String)
  case everything
  /// What is changed from now on is heard.
  case connected
  /// Nothing is heard any more, and was last at that instant of the boot clock.
  case lost(CacheInstant)
}

extension DiskCacheLevel {
  /// Tells what other levels change, in this process and in others, until what is returned is called.
  ///
  /// A level that does not share its directory with other processes hears those of its own. One that only looks hears nothing.
  package func hear(_ ear: @escaping @Sendable (DiskChange) -> Void) -> @Sendable () -> Void {
    @Sendable func tell(_ change: StoreChange) {
      switch change {
      case .key(let key): ear(.key(key.bytes))
      case .tagged(let tag): ear(.tag(tag))
      case .everything: ear(.everything)
      }
    }
    if let store {
      let number = store.ears.add(origin, tell)
      ear(.connected)
      return { [weak store] in store?.ears.remove(number) }
    }
    guard let common = elsewhere as? CommonStore else { return {} }
    let number = common.hear(as: origin) { heard in
      switch heard {
      case .change(let change): tell(change)
      case .everything: ear(.connected)
      case .lost(let lastHeard): ear(.lost(CacheInstant(nanoseconds: lastHeard)))
      }
    }
    return { [weak common] in common?.stopHearing(number) }
  }

  /// Calls a closure whenever the directory has been removed or emptied and is in use again, before the next file is created.
  ///
  /// This is for façades that set attributes of their directory. All levels of this process on one directory share one closure, the
  /// last one given. It is not called for a directory that processes share, or one that is opened for reading.
  ///
  /// - Parameter body: Called on a thread of the store; it must not wait for the store.
  public func whenStandingAgain(_ body: @escaping @Sendable () -> Void) { store?.onStanding.withLock { $0 = body } }

  /// The key with these bytes; `nil` if it is not one of this level's.
  package func key(of bytes: [UInt8]) -> Key? { try? keyCoding.decode(Data(bytes)) }
}
