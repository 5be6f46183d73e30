#if Explorer
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a power cut may leave of the work on a store, by the calls and answers alone: the second opinion.
///
/// A synced write that was acknowledged is there, or a later one of the same key; a buffered one may be lost, and then what
/// the key had before it is there. Nothing else is right: no part of a value, no value of another key.
struct Ledger {
  private struct Line {
    var operation: History.Operation
    var isSynced: Bool
    var begun: Int
    var ended: Int?
  }

  /// What each key held when the power came, or may have held.
  private var base: [String: Set<Int?>] = [:]
  private var lines: [Line] = []

  init() {}

  /// After a power cut: what was found is on the disk, and so is all that it may have lost, where nothing is synced.
  init(after old: Ledger, at moment: Int, found: [String: Set<Int?>], isSynced: Bool) {
    for (key, numbers) in found { base[key] = isSynced ? numbers : old.allowed(key, at: moment).union(numbers) }
  }

  var keys: Set<String> { Set(base.keys).union(lines.filter { $0.operation.work != .clear }.map(\.operation.key)) }

  mutating func begin(_ operation: History.Operation, isSynced: Bool, at moment: Int) {
    lines.append(Line(operation: operation, isSynced: isSynced, begun: moment))
  }

  mutating func end(_ number: Int, at moment: Int) {
    guard let place = lines.lastIndex(where: { $0.operation.number == number }) else { return }
    lines[place].ended = moment
  }

  /// What a key may hold after a cut at a moment: numbers of sets, and `nil` for nothing.
  func allowed(_ key: String, at moment: Int) -> Set<Int?> {
    var allowed = base[key] ?? [nil]
    for line in lines where line.operation.key == key || line.operation.work == .clear {
      if line.isSynced, let ended = line.ended, ended <= moment {
        allowed = [line.operation.result]
      } else if line.begun < moment {
        allowed.insert(line.operation.result)
      }
    }
    return allowed
  }

  /// Says what is wrong with what a key holds after a cut; `nil` if nothing is.
  func objection(to found: Data?, for key: String, at moment: Int, mayEvict: Bool) -> String? {
    let allowed = allowed(key, at: moment)
    guard let found else {
      return mayEvict || allowed.contains(nil)
        ? nil : "\(key) is missing, and was \(allowed.compactMap(\.self).sorted())"
    }
    guard let number = Self.number(in: found) else { return "\(key) holds \(found.count) bytes of nobody" }
    guard allowed.contains(number) else {
      return "\(key) holds what \(number) set; right is \(allowed.map { $0.map(String.init) ?? "nothing" }.sorted())"
    }
    let whole = History.value(.init(number: number, key: key, work: .set(length: found.count)))
    return whole == found ? nil : "\(key) holds a torn or foreign value of \(number)"
  }

  /// The work on a key, for whoever looks for the cause.
  func story(of key: String) -> String {
    lines.filter { $0.operation.key == key || $0.operation.work == .clear }.map { line in
      "\(line.operation.number) \(line.operation.work)\(line.isSynced ? ", synced" : "") \(line.begun)-\(line.ended ?? -1)"
    }.joined(separator: "; ")
  }

  /// Which set a value says that it is from.
  static func number(in value: Data) -> Int? {
    Int(String(decoding: value.prefix(20).prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
  }
}
#endif
