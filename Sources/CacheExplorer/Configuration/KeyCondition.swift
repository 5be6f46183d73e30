import CacheEngine
package import ExplorerText

/// Which keys a level is for: `prefix: "img:"`, `length: 1..20`, `any: [ … ]`.
package indirect enum KeyCondition: Equatable, Sendable {
  case prefix(String)
  case suffix(String)
  case contains(String)
  case equals(String)
  case matches(KeyPattern)
  /// In characters.
  case length(ClosedRange<Int>)
  case not(KeyCondition)
  case any([KeyCondition])
  case all([KeyCondition])

  package static let words = ["prefix", "suffix", "contains", "equals", "matches", "length", "not", "any", "all"]

  package func holds(_ key: String) -> Bool {
    switch self {
    case .prefix(let text): Self.bytes(key).starts(with: Self.bytes(text))
    case .suffix(let text): Self.bytes(key).reversed().starts(with: Self.bytes(text).reversed())
    case .contains(let text): text.isEmpty || Self.bytes(key).contains(Self.bytes(text))
    case .equals(let text): key == text
    case .matches(let pattern): pattern.matches(key)
    case .length(let range): range.contains(key.count)
    case .not(let condition): !condition.holds(key)
    case .any(let conditions): conditions.contains { $0.holds(key) }
    case .all(let conditions): conditions.allSatisfy { $0.holds(key) }
    }
  }

  /// A part of a key as `removeAll(withPrefix:)` sees it: to `String`, an accent that follows belongs to the last character.
  private static func bytes(_ text: String) -> [UInt8] { CanonicalText.bytes(of: text) }

  /// As it stands in the file, without its punctuation.
  package var text: String {
    switch self {
    case .prefix(let text): "prefix \(text)"
    case .suffix(let text): "suffix \(text)"
    case .contains(let text): "contains \(text)"
    case .equals(let text): "equals \(text)"
    case .matches(let pattern): "matches \(pattern.text)"
    case .length(let range): "length \(range.lowerBound)..\(range.upperBound)"
    case .not(let condition): "not \(condition.nestedText)"
    case .any(let conditions): conditions.map(\.nestedText).joined(separator: " or ")
    case .all(let conditions): conditions.map(\.nestedText).joined(separator: " and ")
    }
  }

  private var nestedText: String {
    switch self {
    case .any(let conditions), .all(let conditions): conditions.count > 1 ? "(\(text))" : text
    default: text
    }
  }
}

extension KeyCondition {
  /// Whether no key meets both; `false` also where that cannot be told.
  func excludes(_ other: KeyCondition) -> Bool {
    if excludesAsWritten(other) || other.excludesAsWritten(self) { return true }
    return false
  }

  /// Whether no key at all meets it; `false` also where that cannot be told.
  var isImpossible: Bool {
    switch self {
    case .any(let conditions): conditions.allSatisfy(\.isImpossible)
    case .all(let conditions):
      conditions.indices.contains { index in
        conditions[index].isImpossible || conditions[(index + 1)...].contains { conditions[index].excludes($0) }
      }
    default: false
    }
  }

  private func excludesAsWritten(_ other: KeyCondition) -> Bool {
    switch (self, other) {
    case (.any(let conditions), _): conditions.allSatisfy { $0.excludes(other) }
    case (.all(let conditions), _): conditions.contains { $0.excludes(other) }
    case (.not(let condition), _): other.implies(condition)
    case (.equals(let text), _): !other.holds(text)
    case (.prefix(let left), .prefix(let right)), (.suffix(let left), .suffix(let right)):
      !holds(right) && !other.holds(left)
    case (.length(let left), .length(let right)): !left.overlaps(right)
    case (.prefix(let text), .length(let range)), (.suffix(let text), .length(let range)),
      (.contains(let text), .length(let range)):
      // Elsewhere, what surrounds a part may make fewer characters of it.
      text.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        && range.upperBound < text.count
    default: false
    }
  }

  /// Whether every key that meets it meets the other too; `false` also where that cannot be told.
  private func implies(_ other: KeyCondition) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.any(let conditions), _): return conditions.allSatisfy { $0.implies(other) }
    case (_, .all(let conditions)): return conditions.allSatisfy { implies($0) }
    case (.all(let conditions), _): return conditions.contains { $0.implies(other) }
    case (_, .any(let conditions)): return conditions.contains { implies($0) }
    case (.equals(let text), _): return other.holds(text)
    case (.prefix(let left), .prefix(let right)): return left.hasPrefix(right)
    case (.suffix(let left), .suffix(let right)): return left.hasSuffix(right)
    case (.prefix(let text), .contains(let part)), (.suffix(let text), .contains(let part)),
      (.contains(let text), .contains(let part)):
      return text.contains(part)
    case (.length(let left), .length(let right)): return left.clamped(to: right) == left
    default: return false
    }
  }
}
