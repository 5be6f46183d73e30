#if HTTP
package import HTTPTypes
import RawStructuredFieldValues

/// The directives of `Cache-Control` and of fields like it.
///
/// After RFC 9111, section 5.2, read as its section 4.2.1 advises: what cannot be understood makes a response stale, and never
/// lives longer. Of a directive that stands there several times the first one counts; of those that may name fields, what is said of
/// the whole response, and else all that are named.
package struct CacheControl: Sendable, Equatable {
  private enum Argument: Equatable {
    case none
    case text(String)
    /// The fields of a directive that may name some.
    case names(Set<HTTPField.Name>)
    case malformed
  }

  private var directives: [String: Argument] = [:]

  /// Reads the lines of a `Cache-Control` field.
  package init(_ lines: [String]) {
    for line in lines {
      for member in FieldList.members(of: line) {
        let name = Substring(member.utf8.prefix { $0 != UInt8(ascii: "=") })
        let isAlone = name.endIndex == member.endIndex
        let argument = isAlone ? .none : Self.argument(Substring(member.utf8[name.endIndex...].dropFirst()))
        let trimmed = FieldList.trimmed(name)
        // No directive has a blank before the sign; it is taken as malformed rather than as absent.
        add(trimmed.lowercased(), trimmed.endIndex == name.endIndex || isAlone ? argument : .malformed)
      }
    }
  }

  /// Reads a targeted field, which is a dictionary of RFC 9651.
  ///
  /// - Returns: `nil` if it is empty, does not parse or has an argument of the wrong type: then it counts as absent (RFC 9213,
  ///   section 2.1).
  package init?(targeted lines: [String]) {
    var parser = StructuredFieldValueParser(Array(lines.joined(separator: ", ").utf8))
    guard let members = try? parser.parseDictionaryFieldValue(), !members.isEmpty else { return nil }
    for (name, member) in members {
      guard case .item(let item) = member else {
        guard !Self.counting.contains(name) else { return nil }
        add(name, .malformed)
        continue
      }
      switch item.rfc9651BareItem {
      case .bool(let isSaid): if isSaid { add(name, .none) }
      case .integer(let number): add(name, .text(String(number)))
      case .string(let text), .token(let text):
        guard !Self.counting.contains(name) else { return nil }
        add(name, .text(text))
      default:
        guard !Self.counting.contains(name) else { return nil }
        add(name, .malformed)
      }
    }
    for name in Self.counting where directives[name] == Argument.none { return nil }
  }

  /// Whether a directive is there, with whatever argument.
  package func has(_ name: String) -> Bool { directives[name] != nil }

  /// Whether a directive is there, and has no argument.
  package func isAlone(_ name: String) -> Bool { directives[name] == Argument.none }

  /// The seconds of a directive; 0 for an argument that is no number, `nil` if the directive is not there.
  package func seconds(_ name: String) -> Int? {
    directives[name].map { argument in
      if case .text(let text) = argument { FieldList.number(text[...]) ?? 0 } else { 0 }
    }
  }

  /// Whether a directive stands there without an argument, or with one that cannot be read.
  package func isUnqualified(_ name: String) -> Bool {
    guard let argument = directives[name] else { return false }
    return if case .names = argument { false } else { true }
  }

  /// The fields that the argument of `private` or `no-cache` names; `nil` if there is no list of names.
  package func fields(_ name: String) -> Set<HTTPField.Name>? {
    if case .names(let names) = directives[name] { names } else { nil }
  }

  private static func names(in text: String) -> Argument {
    var names: Set<HTTPField.Name> = []
    for member in FieldList.members(of: text) {
      guard let name = HTTPField.Name(String(member)) else { return .malformed }
      names.insert(name)
    }
    // Without such a field the rest could not be kept on its own.
    return names.isEmpty || !names.isDisjoint(with: ConnectionFields.needed) ? .malformed : .names(names)
  }

  private static let naming: Set = ["private", "no-cache"]
  private static let counting: Set = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]

  private static func argument(_ text: Substring) -> Argument {
    if let first = text.first, first == " " || first == "\t" { return .malformed }
    guard text.first == "\"" else { return text.isEmpty ? .malformed : .text(String(text)) }
    return FieldList.unquoted(text).map(Argument.text) ?? .malformed
  }

  private mutating func add(_ name: String, _ argument: Argument) {
    guard Self.naming.contains(name) else {
      if directives[name] == nil { directives[name] = argument }
      return
    }
    let argument = if case .text(let text) = argument { Self.names(in: text) } else { argument }
    switch directives.updateValue(argument, forKey: name) {
    case nil: break
    case .names(let names)?:
      if case .names(let more) = argument { directives[name] = .names(more.union(names)) }
    case let first?: directives[name] = first
    }
  }
}
#endif
