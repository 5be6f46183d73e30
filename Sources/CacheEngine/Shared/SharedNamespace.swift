import CacheCore

/// The names under which a namespace keeps its things in a shared store.
package struct SharedNamespace: Sendable {
  /// What a name stands for.
  enum Meaning: Equatable, Sendable {
    case record([UInt8])
    case tag([UInt8])
    case everything
    case nothing
  }

  /// The namespace with its colon.
  let prefix: [UInt8]

  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`.
  init(_ text: String, level: String) throws {
    guard Self.isUsable(text) else {
      throw CacheError(
        .invalidSetting, "a namespace has \(Self.rule); it was given \(text.debugDescription)", level: level)
    }
    prefix = Array(text.utf8) + [0x3a]
  }

  /// What a namespace may be, in words.
  package static let rule = "1 to 128 letters, digits or signs of ASCII, and no space, colon or brace"

  /// Whether a text can name a namespace.
  package static func isUsable(_ text: String) -> Bool {
    // A colon ends the namespace, so that none is the beginning of another; braces would choose slots of a cluster.
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && ![0x3a, 0x7b, 0x7d].contains($0) }
  }

  private static let (records, leases, stamps, tags, epoch) = (
    Array("r:".utf8), Array("l:".utf8), Array("s:".utf8), Array("t:".utf8), Array("g:".utf8)
  )

  func record(_ id: [UInt8]) -> [UInt8] { prefix + Self.records + id }
  func lease(_ id: [UInt8]) -> [UInt8] { prefix + Self.leases + id }
  func tag(_ id: [UInt8]) -> [UInt8] { prefix + Self.tags + id }
  /// The stamp that every record was written under.
  var stamp: [UInt8] { prefix + Self.stamps }
  /// Changes with every removal by tag, whichever it is.
  var tagEpoch: [UInt8] { prefix + Self.epoch }

  /// How the names begin whose changes matter to others.
  var heard: [[UInt8]] { [Self.records, Self.stamps, Self.tags].map { prefix + $0 } }

  /// The namespace that a name belongs to, if others want to hear of its changes.
  ///
  /// - Parameter name: The name.
  /// - Returns: The namespace with its colon; `nil` for a name of none, and for one that nobody wants to hear of.
  package static func heard(of name: [UInt8]) -> ArraySlice<UInt8>? {
    guard let colon = name.firstIndex(of: 0x3a), colon > 0 else { return nil }
    let rest = name[(colon + 1)...]
    return rest.starts(with: leases) || rest.starts(with: epoch) ? nil : name[...colon]
  }

  /// Damaged or copied bytes of another namespace have another sum.
  var seed: UInt64 { Checksum.of(prefix, seed: 0) }

  func meaning(of name: [UInt8]) -> Meaning {
    guard name.starts(with: prefix) else { return .nothing }
    let rest = name.dropFirst(prefix.count)
    let id = Array(rest.dropFirst(2))
    if rest.starts(with: Self.records) { return .record(id) }
    if rest.starts(with: Self.tags) { return .tag(id) }
    return rest.elementsEqual(Self.stamps) ? .everything : .nothing
  }
}

/// A random token: of two that are equal one is a copy of the other.
///
/// Neither counter nor time, since stores lose names and clocks differ.
enum SharedToken {
  static let length = 16

  static func random() -> [UInt8] { (0..<length).map { _ in UInt8.random(in: 0 ... .max) } }

  /// A stamp as records carry it: itself, or, if a stranger has put something else in its place, a sum of that.
  static func carried(_ stamp: [UInt8]) -> [UInt8] {
    if stamp.count == length { return stamp }
    var writer = ByteWriter()
    for seed: UInt64 in [1, 2] { writer.put(Checksum.of(stamp, seed: seed)) }
    return writer.bytes
  }
}
