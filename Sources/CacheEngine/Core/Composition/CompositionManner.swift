import Synchronization

/// What a composition was told to do, beside its levels.
@usableFromInline
final class CompositionManner<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let partialStores: PartialStores
  let backFill: BackFill
  let clock: any CacheClock
  /// Those of the lower level, if it is a pool.
  @usableFromInline let pool: SharedReads<Key, Value>?
  /// The lower level, if it makes use of what has expired above.
  @usableFromInline let renewer: (any RenewingLevel<Key, Value>)?
  /// Known beside that level, since to look whether it is there is to copy it.
  @usableFromInline let isRenewing: Bool

  /// What the lower level says is not there, is not there: then the upper one need not keep it either.
  @usableFromInline let isLowerSource: Bool

  /// The upper level never refuses a store at once.
  @usableFromInline let isUpperImmediate: Bool

  /// The upper level tells the same observer of its reads by itself.
  @usableFromInline let upperTellsOfReads: Bool

  private let observer: (any CacheObserver)?
  private let copies = Atomic(0)

  init(
    upper: any CacheLevel<Key, Value>, lower: any CacheLevel<Key, Value>, partialStores: PartialStores,
    backFill: BackFill,
    observer: (any CacheObserver)?, clock: any CacheClock, isLowerSource: Bool = false
  ) {
    self.partialStores = partialStores
    self.backFill = backFill
    self.observer = observer
    self.clock = clock
    self.isLowerSource = isLowerSource
    isUpperImmediate = upper is any ImmediateLevel<Key, Value>
    upperTellsOfReads = observer.map(upper.tellsOfReads(to:)) ?? false
    pool = (lower.unerased as? any SharingLevel<Key, Value>)?.sharedReads
    renewer = lower.renewer
    isRenewing = renewer != nil
  }

  @usableFromInline var now: CacheInstant { clock.now }

  /// Whether one more copy may be under way; then it is to be ended.
  func beginCopy() -> Bool {
    if copies.wrappingAdd(1, ordering: .relaxed).newValue <= backFill.most { return true }
    endCopy()
    return false
  }

  func endCopy() { copies.wrappingSubtract(1, ordering: .relaxed) }

  /// Tells of a failure that the composition goes on without.
  @usableFromInline
  func report(
    _ operation: CacheEvent.Operation, of level: String, key: Key, _ error: any Error, since began: CacheInstant?
  ) {
    guard let observer else { return }
    let now = clock.now
    func tell(_ kind: CacheEvent.Kind) {
      observer.record(
        CacheEvent(time: now, request: .current, level: level, key: EventRecorder.text(of: key), kind: kind))
    }
    // Whoever counts look-ups counts as many ends as beginnings.
    if operation == .get { tell(.lookupBegan) }
    tell(.failed(operation, String(describing: error), began?.duration(to: now) ?? .zero))
  }
}

/// What the upper level is to forget when the lower one says that there is no such value any more.
@usableFromInline
enum GoneAbove: Sendable {
  case nothing
  /// What it keeps past its deadline.
  case stale
  /// A refresh may come ahead of the deadline.
  case anything
}

/// Why a read does not end in the upper level.
@usableFromInline
enum UpperMiss: Sendable {
  case missed(MissReason)
  case failed(any Error)

  /// `nil` for a hit.
  init?<Value>(_ answer: Result<Lookup<Value>, any Error>) {
    switch answer {
    case .success(.hit): return nil
    case .success(.miss(let reason)): self = .missed(reason)
    case .failure(let error): self = .failed(error)
    }
  }

  /// A level that answered: whatever the reason, it may keep a stale value, in one of several levels.
  @inlinable var mayKeepStale: Bool {
    if case .missed(let reason) = self { return reason != .nothingToAsk }
    return false
  }

  /// The same as the answer of a look-up.
  @inlinable
  func get<Value>() throws -> Lookup<Value> {
    switch self {
    case .missed(let reason): return .miss(reason)
    case .failed(let error): throw error
    }
  }
}

extension Entry {
  /// The tags, or `nil` if there are none: where they are not kept with a value, what was removed by tag may be this one.
  @inlinable var toldTags: Set<String>? { hasUntoldTags || knownTags?.isEmpty == true ? nil : knownTags }
}

extension CacheLevel {
  /// Whether an observer of this level is, or tells, the one given.
  fileprivate func tellsOfReads(to observer: any CacheObserver) -> Bool {
    switch shapeOrLeaf {
    case .observed(_, as: _, by: let told): told.reaches(observer)
    case .wrapper(let level): level.tellsOfReads(to: observer)
    default: false
    }
  }
}

extension CacheObserver {
  fileprivate func reaches(_ other: any CacheObserver) -> Bool {
    if let all = self as? CacheObservers { return all.observers.contains { $0.reaches(other) } }
    return self as AnyObject === other as AnyObject
  }
}
