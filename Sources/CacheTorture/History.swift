#if Explorer
import CacheEngineTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What was asked of a store, and what it said: the text of a log that survives the death of the program.
///
/// Every line is written before, or after, what it speaks of. Each key is worked on by one task at a time, so the lines
/// of a key are in the order of its operations.
struct History {
  enum Work: Equatable {
    case set(length: Int)
    case remove
    case clear
  }

  struct Operation: Equatable {
    var number: Int
    var key: String
    var work: Work
    var outcome = Outcome.unknown

    /// What its key holds when it is done.
    var result: Int? { if case .set = work { number } else { nil } }
  }

  enum Outcome: Equatable { case unknown, acknowledged, failed }

  private(set) var operations: [Int: Operation] = [:]
  private(set) var order: [Int] = []
  /// Numbers of the sets that a key may hold the value of, and `nil` if it may be missed.
  private var possible: [String: Set<Int?>] = [:]
  /// What a key could hold before an operation that is under way.
  private var before: [Int: Set<Int?>] = [:]

  var nextNumber: Int { (order.last ?? 0) + 1 }

  /// The same when it is known what each key holds.
  func settled(_ found: [String: Set<Int?>]) -> History {
    var settled = self
    settled.possible = found
    return settled
  }

  mutating func intend(_ operation: Operation) {
    operations[operation.number] = operation
    order.append(operation.number)
    guard operation.work != .clear else {
      for key in possible.keys { possible[key]?.insert(nil) }
      return
    }
    let allowed = possible[operation.key] ?? [nil]
    before[operation.number] = allowed
    possible[operation.key] = allowed.union([operation.result])
  }

  mutating func conclude(_ number: Int, _ outcome: Outcome) {
    guard let operation = operations[number] else { return }
    operations[number]?.outcome = outcome
    let old = before.removeValue(forKey: number)
    switch (outcome, operation.work) {
    case (.acknowledged, .clear): for key in possible.keys { possible[key] = [nil] }
    case (.acknowledged, _): possible[operation.key] = [operation.result]
    // A clear that failed may have removed some.
    case (.failed, .set), (.failed, .remove): possible[operation.key] = old
    default: break
    }
  }

  /// The line that is written before an operation begins.
  static func intention(_ operation: Operation) -> String {
    switch operation.work {
    case .set(let length): "i \(operation.number) set \(operation.key) \(length)\n"
    case .remove: "i \(operation.number) remove \(operation.key)\n"
    case .clear: "i \(operation.number) clear *\n"
    }
  }

  /// The line that is written when an operation is over.
  static func conclusion(_ number: Int, _ outcome: Outcome) -> String {
    "\(outcome == .acknowledged ? "a" : "f") \(number)\n"
  }

  init() {}

  /// Reads a log; a last line without its end was not written.
  init(text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if !lines.isEmpty { lines.removeLast() }
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count >= 2, let number = Int(words[1]) else { continue }
      switch words[0] {
      case "a": conclude(number, .acknowledged)
      case "f": conclude(number, .failed)
      default:
        guard words.count >= 4 else { continue }
        let work: Work =
          switch words[2] {
          case "set": .set(length: words.count > 4 ? Int(words[4]) ?? 0 : 0)
          case "remove": .remove
          default: .clear
          }
        intend(Operation(number: number, key: String(words[3]), work: work))
      }
    }
  }

  /// What a key may hold now: numbers of the sets, and `nil` if it may be missed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - mayEvict: Whether the store may have had to drop entries for room.
  /// - Returns: What is right.
  func allowed(_ key: String, mayEvict: Bool) -> Set<Int?> {
    (possible[key] ?? [nil]).union(mayEvict ? [nil] : [])
  }

  var keys: Set<String> { Set(possible.keys) }

  /// The value that an operation sets: it names key and operation, and every byte follows from these and the length.
  static func value(_ operation: Operation) -> Data {
    guard case .set(let length) = operation.work else { return Data() }
    var generator = SeededGenerator(seed: UInt64(operation.number) &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(length))
    var bytes = Array("\(operation.number) \(operation.key) ".utf8)
    bytes.reserveCapacity(length + 8)
    while bytes.count < length { bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
    return Data(bytes)
  }

  /// Says what is wrong with what is seen of a key while somebody else writes; `nil` if it is whole and of this key.
  static func objection(toSeen found: Data, for key: String) -> String? {
    let words = found.prefix(64).split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard words.count > 1, let number = Int(String(decoding: words[0], as: UTF8.self)),
      String(decoding: words[1], as: UTF8.self) == key
    else { return "\(key) shows \(found.count) bytes that were never set for it" }
    let whole = value(Operation(number: number, key: key, work: .set(length: found.count)))
    return whole == found ? nil : "\(key) shows a torn value of operation \(number)"
  }

  /// Says what is wrong with what a key holds; `nil` if nothing is.
  func objection(to found: Data?, for key: String, mayEvict: Bool) -> String? {
    let allowed = allowed(key, mayEvict: mayEvict)
    guard let found else {
      return allowed.contains(nil)
        ? nil : "\(key) is missing, though \(allowed.compactMap(\.self).sorted()) was acknowledged"
    }
    let words = found.prefix(64).split(separator: UInt8(ascii: " "), maxSplits: 2)
    let number = words.first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard let number, let operation = operations[number], operation.key == key else {
      return "\(key) holds \(found.count) bytes that were never set for it"
    }
    guard History.value(operation) == found else { return "\(key) holds a torn value of operation \(number)" }
    guard allowed.contains(number) else {
      let right = allowed.map { $0.map(String.init) ?? "a miss" }.sorted()
      return "\(key) holds operation \(number), which is over; allowed is \(right)"
    }
    return nil
  }
}
#endif
