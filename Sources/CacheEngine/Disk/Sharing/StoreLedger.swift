import CacheCore

/// What was carried out for whom.
struct StoreLedger {
  struct Number: Hashable {
    var instance: UInt64
    var sequence: UInt64
  }

  static let most = 4_096
  static let mostInstances = 256
  static let mostTouched = 1 << 18

  /// Until when somebody may try again what the owner before had left unanswered.
  var graceEnd: Int64
  /// What was changed since this owner took over, until then.
  var touched: Set<StoreKey> = []
  var isAllTouched = false
  var running: [Number: [StoreServer.Guest]] = [:]
  private var done: [UInt64: (replies: [UInt64: StoreReply], order: [UInt64])] = [:]
  private var instances: [UInt64] = []

  init(graceEnd: Int64) { self.graceEnd = graceEnd }

  func reply(_ number: Number) -> StoreReply? { done[number.instance]?.replies[number.sequence] }

  mutating func note(_ reply: StoreReply, of number: Number) {
    if done[number.instance] == nil {
      instances.append(number.instance)
      if instances.count > Self.mostInstances { done[instances.removeFirst()] = nil }
    }
    var own = done.removeValue(forKey: number.instance) ?? ([:], [])
    own.replies[number.sequence] = reply
    own.order.append(number.sequence)
    if own.order.count > 2 * Self.most {
      for old in own.order.prefix(Self.most) { own.replies[old] = nil }
      own.order.removeFirst(Self.most)
    }
    done[number.instance] = own
  }

  mutating func touch(_ scope: KeyTurns.Scope) {
    guard SystemClock().now.nanoseconds < graceEnd else {
      if !touched.isEmpty { touched = [] }
      return
    }
    switch scope {
    case .key(let key):
      touched.insert(key)
      // What is not kept looks the same as what was not changed: nobody may try again from here on.
      if touched.count > Self.mostTouched { (touched, graceEnd) = ([], .min) }
    case .everything: isAllTouched = true
    }
  }

  func isTouched(_ scope: KeyTurns.Scope) -> Bool {
    if case .key(let key) = scope { return isAllTouched || touched.contains(key) }
    return false
  }
}
