#if Combine || canImport(Combine)
import CacheEngine

/// What a stack is made of, drawn by lot.
///
/// Every step of a generator decides something, so that a seed names a stack.
indirect enum Shape: Sendable {
  /// Memory that keeps what has expired, with a lifetime in seconds or without.
  case memory(lifetime: Int?)
  /// Memory that can be down. The number is that of its switch.
  case flaky(Int)
  /// A source whose answers the script changes.
  case source(Int)
  /// A directory of its own, sealed with a key or not.
  case disk(isSealed: Bool)
  /// The one directory that all such levels of a stack have, in this process or as if each were in a process of its own.
  case directory(isApart: Bool)
  /// The one store that all such levels of a stack share.
  case common
  /// The one named cache that all such levels of a stack use.
  case cashier
  /// Memory for JSON in gzip.
  case packed
  case empty
  case one(Unary, Shape)
  case compose(Shape, Shape)
  case lanes(Shape, Shape)
  case revalidated(Shape, Shape, Policy)

  enum Unary: CaseIterable, Sendable {
    case observed, silentlyObserved, traced, normalized, pooled, capped, timeout, retry, breaker, fallbackForErrors
    case fallbackForMisses, negative, negativeForErrors, expiring, maximumAge, conditioned, transformValues
    case transformKeys, conditionedTransform, postProcess, batch, optional, counted
  }

  /// Seconds.
  struct Policy: Sendable {
    var whileRevalidate: Int?
    var ifError: Int?
    var ahead: Int?
  }

  /// What the script can turn.
  struct Switches: Sendable {
    var sources = 0
    var flaky = 0
  }

  /// A stack of so many storeys.
  ///
  /// What is read anew in the background may be finished at any moment. So nothing is drawn that asks such a level once
  /// more in the same call: no age limit around one, none in the upper half of another, and no two levels that share
  /// what they hold.
  init(
    depth: Int, mayReadInBackground: Bool = true, mayShare: Bool, switches: inout Switches,
    by lot: inout some RandomNumberGenerator
  ) {
    func below(_ may: Bool = true) -> Shape {
      Shape(
        depth: depth - 1, mayReadInBackground: mayReadInBackground && may, mayShare: mayShare, switches: &switches,
        by: &lot)
    }
    let isLeaf = depth == 0 || Int.random(in: 0..<8, using: &lot) == 0
    switch isLeaf ? Int.random(in: mayShare ? -4..<10 : 0..<10, using: &lot) : Int.random(in: 10..<19, using: &lot) {
    case -4: self = .directory(isApart: false)
    case -3: self = .directory(isApart: true)
    case -2: self = .common
    case -1: self = .cashier
    case 0, 1: self = .memory(lifetime: nil)
    case 2: self = .memory(lifetime: Int.random(in: 1...6, using: &lot))
    case 3:
      self = .flaky(switches.flaky)
      switches.flaky += 1
    case 4, 5:
      self = .source(switches.sources)
      switches.sources += 1
    case 6: self = .disk(isSealed: false)
    case 7: self = .empty
    case 8: self = .disk(isSealed: true)
    case 9: self = .packed
    case 10, 11: self = .compose(below(), below())
    case 12: self = .lanes(below(), below())
    case 13, 14:
      var policy = Policy()
      if Bool.random(using: &lot) { policy.ifError = Int.random(in: 1...20, using: &lot) }
      if mayReadInBackground {
        if Bool.random(using: &lot) { policy.whileRevalidate = Int.random(in: 1...10, using: &lot) }
        if Bool.random(using: &lot) { policy.ahead = Int.random(in: 1...3, using: &lot) }
      }
      self = .revalidated(below(false), below(), policy)
    default:
      let kind = Unary.allCases.randomElement(using: &lot) ?? .pooled
      self = .one(kind, below(kind != .maximumAge))
    }
  }
}

extension Shape {
  /// Some level reads values anew while others go on.
  var readsInBackground: Bool {
    switch self {
    case .memory, .flaky, .source, .disk, .directory, .common, .cashier, .packed, .empty: false
    case .one(_, let inner): inner.readsInBackground
    case .compose(let first, let second), .lanes(let first, let second):
      first.readsInBackground || second.readsInBackground
    case .revalidated(let upper, let lower, let policy):
      policy.whileRevalidate != nil || policy.ahead != nil || upper.readsInBackground || lower.readsInBackground
    }
  }
}

extension Shape: CustomStringConvertible {
  var description: String {
    switch self {
    case .memory(let lifetime): lifetime.map { "memory(\($0)s)" } ?? "memory"
    case .flaky(let number): "flaky \(number)"
    case .source(let number): "source \(number)"
    case .disk(let isSealed): isSealed ? "sealed disk" : "disk"
    case .directory(let isApart): isApart ? "directory apart" : "directory"
    case .common: "common"
    case .cashier: "cashier"
    case .packed: "packed"
    case .empty: "empty"
    case .one(let kind, let inner): "\(inner).\(kind)"
    case .compose(let upper, let lower): "(\(upper) + \(lower))"
    case .lanes(let first, let second): "(\(first) | \(second))"
    case .revalidated(let upper, let lower, let policy):
      "(\(upper) ~ \(lower), while \(policy.whileRevalidate ?? 0), if \(policy.ifError ?? 0), ahead \(policy.ahead ?? 0))"
    }
  }
}

/// One thing that is done to a stack; a node is a level of it, by its number from the leaves up.
enum Step: Sendable {
  case read(node: Int, key: String)
  case readStale(node: Int, key: String)
  case set(node: Int, key: String, value: Int, lifetime: Int?, tag: String?)
  case store(node: Int, key: String, value: Int, condition: StoreCondition)
  case remove(node: Int, key: String)
  case removeTagged(node: Int, String)
  case removeKey(node: Int, String)
  case clear(node: Int)
  case invalidate(node: Int, key: String)
  case reload(node: Int, key: String)
  /// Adds to the value, or begins with this number; `nil` removes.
  case update(node: Int, key: String, adding: Int?)
  case warn(node: Int)
  case advance(seconds: Int)
  case source(Int, key: String, Behaviour)
  case flaky(Int, isDown: Bool)

  enum Behaviour: Sendable, Equatable {
    case value(Int)
    case gone
    case down
  }

  static let keys = ["a", "b", "c"]

  /// Stores on a condition read first, and what that reads anew would run beside the store: they are left out there.
  init(nodes: Int, storesOnConditions: Bool, switches: Shape.Switches, by lot: inout some RandomNumberGenerator) {
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &lot) }
    // The whole stack is asked more often than its parts.
    let node = number(0..<2) == 0 ? nodes - 1 : number(0..<nodes)
    let key = Step.keys[number(0..<3)]
    let tag = number(0..<2) == 0 ? "red" : "blue"
    switch number(0..<48) {
    case 0..<18: self = .read(node: node, key: key)
    case 18..<21: self = .readStale(node: node, key: key)
    case 21..<25:
      self = .set(
        node: node, key: key, value: number(1..<50), lifetime: number(0..<3) == 0 ? number(1..<9) : nil,
        tag: number(0..<3) == 0 ? tag : nil)
    case 25..<27 where storesOnConditions:
      self = .store(node: node, key: key, value: number(1..<50), condition: number(0..<2) == 0 ? .absent : .present)
    case 27: self = .remove(node: node, key: key)
    case 28: self = .removeTagged(node: node, tag)
    case 29: self = .removeKey(node: node, key)
    case 30 where number(0..<4) == 0: self = .clear(node: node)
    case 31..<35 where switches.sources > 0:
      let behaviours: [Behaviour] = [.value(number(50..<99)), .value(number(50..<99)), .gone, .down]
      self = .source(number(0..<switches.sources), key: key, behaviours[number(0..<4)])
    case 35 where switches.flaky > 0: self = .flaky(number(0..<switches.flaky), isDown: number(0..<2) == 0)
    case 36..<38: self = .invalidate(node: node, key: key)
    case 38..<40 where storesOnConditions: self = .reload(node: node, key: key)
    case 40..<42 where storesOnConditions:
      self = .update(node: node, key: key, adding: number(0..<4) == 0 ? nil : number(1..<50))
    case 42 where number(0..<4) == 0: self = .warn(node: node)
    default: self = .advance(seconds: number(0..<5))
    }
  }
}
#endif
