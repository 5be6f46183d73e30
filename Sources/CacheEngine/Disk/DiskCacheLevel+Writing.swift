public import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a level stores: what can be done where the caller runs, and what is left of that.
extension DiskCacheLevel {
  /// Stores a value with the level's default lifetime.
  public func set(_ value: Value, forKey key: Key) async throws {
    guard case .left(let work) = try begin(value, key, StoreTerms(), if: nil) else { return }
    _ = try await carryOut(work)
  }

  /// Stores a value on terms of its own; its cost is the length of its bytes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, and what it can be removed by.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/tooLarge``, ``CacheError/Code/diskWriteFailed``,
  ///   ``CacheError/Code/readOnly`` or ``CacheError/Code/closed``, or the coding's error. The value stored before is
  ///   then still there.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    guard case .left(let work) = try begin(value, key, terms, if: nil) else { return }
    _ = try await carryOut(work)
  }

  /// Stores a value if a condition holds.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live, and what it can be removed by.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the value was stored.
  /// - Throws: As ``store(_:forKey:terms:)``.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    switch try begin(value, key, terms, if: condition) {
    case .done(let isStored): return isStored
    case .left(let work): return try await carryOut(work)
    }
  }

  /// What is left of a write that could not be carried out where its caller runs.
  private enum Work {
    case here(SegmentedStore, WriteJob.Work, StoreKey)
    case elsewhere(any StoreElsewhere, StorePut)
  }

  private enum Begun {
    case done(isStored: Bool)
    case left(Work)
  }

  /// Stores a value where the caller runs if it is short: nothing is suspended for that, and no asynchronous function is called.
  private func begin(
    _ value: Value, _ key: Key, _ terms: StoreTerms, if condition: StoreCondition?
  ) throws -> Begun {
    do {
      let packed = try valueCoding.pack(value)
      let form = packed.form == valueCoding.name ? type : Array(packed.form.utf8)
      guard let store else { return try begin(elsewhere: packed.bytes, form, key, terms, condition) }
      let stored = try storeKey(key)
      let work = try store.work(
        toPut: packed.bytes, for: stored, type: form, created: terms.created,
        deadline: terms.deadline(levelDefault: expiry, clock: store.clock), cost: packed.bytes.count, tags: terms.tags,
        if: condition)
      if let answer = try store.performAtOnce(work, durability) { return .done(isStored: tell(store, stored, answer)) }
      return .left(.here(store, work, stored))
    } catch { throw named(error) }
  }

  private func begin(
    elsewhere value: Data, _ form: [UInt8], _ key: Key, _ terms: StoreTerms, _ condition: StoreCondition?
  ) throws -> Begun {
    guard let elsewhere else { return .done(isStored: false) }
    let now = elsewhere.clock.now
    let put = StorePut(
      key: try storeKey(key), type: form, created: min(terms.created ?? now, now).nanoseconds,
      deadline: terms.deadline(levelDefault: expiry, clock: elsewhere.clock)?.nanoseconds, cost: value.count,
      tags: terms.tags, durability: durability, condition: condition, value: value)
    return .left(.elsewhere(elsewhere, put))
  }

  /// Tells other levels that a value was stored, if it was.
  @discardableResult
  private func tell(_ store: SegmentedStore, _ key: StoreKey, _ count: Int) -> Bool {
    if count > 0 { store.ears.tell(.key(key), from: origin) }
    return count > 0
  }

  private func carryOut(_ work: Work) async throws -> Bool {
    do {
      switch work {
      case .here(let store, let work, let key):
        do { return tell(store, key, try await store.performInTurn(work, durability)) } catch {
          // It is taken back, but others may have read it before that.
          tell(store, key, 1)
          throw error
        }
      case .elsewhere(let elsewhere, let put): return try await elsewhere.change(.put(put), from: origin) > 0
      }
    } catch { throw named(error) }
  }
}
