import Dispatch
import Synchronization

/// What has left the levels of a storage during an operation, and dies when that has ended.
///
/// Nobody knows what a value does in its deinitialiser; it may use the storage in the blocking face. So no value dies in a
/// key's turn to be written, nor on the thread of the storage, which others wait for.
final class Afterlife: Sendable {
  @TaskLocal static var current: Afterlife?

  /// Where those die whose operation has ended already.
  private static let queue = DispatchQueue(label: "CacheEngine.storage.deaths")

  /// `nil` once the operation has ended.
  private let remains = Mutex<[Remains]?>([])

  /// Keeps what would die now, if it may not.
  static func receive(_ remains: Remains) {
    if let current, current.keep(remains) { return }
    if current != nil || StorageExecutor.isCurrent { queue.async { remains.release() } }
  }

  /// Releases everything, here and now.
  func end() {
    let remains = remains.withLock { remains in
      defer { remains = nil }
      return remains
    }
    for one in remains ?? [] { one.release() }
  }

  private func keep(_ remains: Remains) -> Bool {
    self.remains.withLock { $0?.append(remains) } != nil
  }
}
