import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension SharedCacheLevel {
  /// The store's time, which is asked for once in ten minutes.
  func time() async throws -> Duration {
    let now = clock.now
    if let time = known.withLock({ $0.time }) {
      let passed = time.at.duration(to: now)
      if passed < .seconds(600) { return time.store + passed }
    }
    let before = clock.now
    let told: Duration
    do { told = try await store.timeSinceEpoch() } catch {
      // What was known goes on, by a clock that does not step.
      guard let time = known.withLock({ $0.time }) else { throw error }
      return time.store + time.at.duration(to: now)
    }
    let after = clock.now
    let time = (store: told, at: before.advanced(by: before.duration(to: after) / 2))
    known.withLock { $0.time = time }
    return time.store + time.at.duration(to: after)
  }

  func instant(_ moment: Int64) -> CacheInstant {
    guard let time = known.withLock({ $0.time }) else { return clock.now }
    return time.at.advanced(by: .nanoseconds(moment) - time.store)
  }

  func moment(_ instant: CacheInstant) -> Int64 {
    guard let time = known.withLock({ $0.time }) else { return 0 }
    // The largest number means never.
    return min(Self.nanoseconds(time.store + time.at.duration(to: instant)), SharedRecord.never - 1)
  }

  static func nanoseconds(_ duration: Duration) -> Int64 { duration.clampedNanoseconds }

  func id(of key: Key, _ bytes: [UInt8]) -> [UInt8] {
    let id = codec.id(of: bytes)
    if codec.encryption != nil {
      known.withLock { known in
        if known.keys.count >= 65_536, known.keys[id] == nil {
          known.keys = [:]
          known.hasForgottenKeys = true
        }
        known.keys[id] = key
      }
    }
    return id
  }

  /// What a change of a name means for those who hold copies of this level's entries.
  func heard(_ name: [UInt8]) -> HeardChange<Key> {
    switch namespace.meaning(of: name) {
    case .nothing: return .nothing
    case .everything:
      known.withLock { $0.stamps = [:] }
      return .everything
    case .tag(let id):
      if codec.encryption != nil { return .everything }
      return String(validating: id, as: UTF8.self).map { .tag($0) } ?? .nothing
    case .record(let id):
      guard codec.encryption == nil else {
        return known.withLock { known in
          if let key = known.keys[id] { return .key(key) }
          guard known.hasForgottenKeys else { return .nothing }
          // Everything above is forgotten now, and with it what could be asked for under forgotten names.
          known.keys = [:]
          known.hasForgottenKeys = false
          return .everything
        }
      }
      // Nobody holds a copy of what is not a key of this level.
      do { return .key(try codec.keyCoding.decode(Data(id))) } catch { return .nothing }
    }
  }

  func named<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do { return try await body() } catch { throw named(error) }
  }

  /// The error with the name of this level, if it is one of the cache and has none.
  func named(_ error: any Error) -> any Error {
    guard var error = error as? CacheError else { return error }
    error.level = error.level ?? name
    return error
  }
}
