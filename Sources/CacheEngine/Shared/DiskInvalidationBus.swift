import CacheCore
public import CacheDisk
import Synchronization

/// Tells what other levels change in the directory of a disk level, in this process and in those that share it.
///
/// What other processes change comes by the socket that the level's own answers come by, so both are in one order. What is changed
/// through the level itself is not told. A name is `k` and the bytes of a key, `t` and a tag, or `*` for everything.
///
/// ```swift
/// let disk = try DiskCacheLevel<String, Data>(directory: path, sharing: .acrossProcesses)
/// let photos = memory.compose(disk, coherence: Coherence(disk))
/// ```
public struct DiskInvalidationBus: InvalidationBus {
  private let listen: @Sendable (@escaping @Sendable (DiskChange) -> Void) -> @Sendable () -> Void

  /// Listens to the directory of a level.
  ///
  /// - Parameter disk: The level. One that only looks hears nothing.
  public init<Key: Hashable & Sendable, Value: Sendable>(_ disk: DiskCacheLevel<Key, Value>) {
    listen = { disk.hear($0) }
  }

  /// Begins to listen for names that begin so.
  public func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let ending = Ending()
    let feed = InvalidationFeed { ending.end() }
    ending.begin(
      listen { [weak feed] change in
        guard let told = Self.told(change, prefixes) else { return }
        feed?.send(told)
      })
    return feed
  }

  private static func told(_ change: DiskChange, _ prefixes: [[UInt8]]) -> SharedInvalidation? {
    let name: [UInt8]
    switch change {
    case .connected: return .everything(.connected)
    case .lost(let lastHeard): return .lost(lastHeard: lastHeard)
    case .everything: return .names([[UInt8(ascii: "*")]])
    case .key(let bytes): name = [UInt8(ascii: "k")] + bytes
    case .tag(let tag): name = [UInt8(ascii: "t")] + Array(tag.utf8)
    }
    return prefixes.contains { name.starts(with: $0) } ? .names([name]) : nil
  }

  /// Ends listening when its feed has gone, whichever comes first.
  private final class Ending: Sendable {
    private let state = Mutex<(isEnded: Bool, stop: (@Sendable () -> Void)?)>((false, nil))

    func begin(_ stop: @escaping @Sendable () -> Void) {
      let isEnded = state.withLock { state in
        if !state.isEnded { state.stop = stop }
        return state.isEnded
      }
      if isEnded { stop() }
    }

    func end() {
      let stop = state.withLock { state in
        state.isEnded = true
        return state.stop.take()
      }
      stop?()
    }
  }
}

extension Coherence {
  /// Begins to listen to the directory of a disk level that several levels share, in one process or in several.
  ///
  /// - Parameters:
  ///   - disk: The level whose entries are copied.
  ///   - whileDeaf: What happens to the copies while nothing is heard, as after the owner of the files has ended.
  public init<Value: Sendable>(
    _ disk: DiskCacheLevel<Key, Value>, whileDeaf: WhileDeaf = .serve(for: .seconds(5))
  ) {
    self.init(
      feed: DiskInvalidationBus(disk).changes(of: [[]]),
      meaning: { name in
        switch name.first {
        case UInt8(ascii: "k"): disk.key(of: Array(name.dropFirst())).map { .key($0) } ?? .nothing
        case UInt8(ascii: "t"): .tag(String(decoding: name.dropFirst(), as: UTF8.self))
        default: .everything
        }
      }, whileDeaf: whileDeaf)
  }
}
