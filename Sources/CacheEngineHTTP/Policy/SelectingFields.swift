#if HTTP
package import HTTPTypes

/// The request fields that a stored response depends on, by its `Vary`, as they were in the request that it answered.
///
/// Two requests agree in a field if its lines, joined, differ in nothing but blanks around commas (RFC 9111, section 4.1). A
/// field that is not there differs from an empty one. Codings and languages have no case (RFC 9110, sections 8.4.1 and 12.5.4), and
/// their weights several spellings. The order counts, except that of codings, which mean nothing by it (section 12.5.3): not all
/// servers rank languages by their weights alone.
public struct SelectingFields: Hashable, Sendable {
  /// Each field with its value in the form that is compared; `nil` where the request had no such field.
  package var values: [HTTPField.Name: String?]

  /// Of values in any of their spellings.
  package init(values: [HTTPField.Name: String?]) {
    self.values = Dictionary(
      uniqueKeysWithValues: values.map { name, value in (name, value.map { Self.normal($0, of: name) }) })
  }

  /// Notes the fields of a request that a response names.
  ///
  /// - Returns: `nil` if the response names `*`, or what is no field, or a field with bytes that are no UTF-8, which nobody can
  ///   compare any more: it matches no other request.
  package init?(of request: HTTPFields, named response: HTTPFields) {
    guard response.contains(.vary) else {
      values = [:]
      return
    }
    guard let names = response.names(in: .vary), !names.contains(where: { $0.canonicalName == "*" }) else {
      return nil
    }
    values = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.value($0, in: request)) })
    guard !values.values.contains(where: { $0?.unicodeScalars.contains("\u{FFFD}") == true }) else { return nil }
  }

  /// These, with further fields of a request.
  package func adding(_ names: Set<HTTPField.Name>, of request: HTTPRequest) -> SelectingFields {
    var fields = self
    for name in names { fields.values[name] = .some(Self.value(name, in: request.headerFields)) }
    return fields
  }

  /// Whether another request has the same fields.
  package func match(_ request: HTTPFields) -> Bool { values.keys.allSatisfy { match(request, in: $0) } }

  /// Whether another request has the same in one field, if that is one of these.
  package func match(_ request: HTTPFields, in name: HTTPField.Name) -> Bool {
    values[name].map { Self.areSame(Self.value(name, in: request), $0) } ?? true
  }

  /// Whether both name the same fields with the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.values.count == right.values.count
      && left.values.allSatisfy { name, value in right.values[name].map { areSame(value, $0) } ?? false }
  }

  private static func areSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return FieldList.areSame(left, right)
  }

  private static func value(_ name: HTTPField.Name, in request: HTTPFields) -> String? {
    request.combined(name).map { normal($0, of: name) }
  }

  /// A value in the form that is compared.
  private static func normal(_ line: String, of name: HTTPField.Name) -> String {
    let members = FieldList.members(of: line)
    // Only ASCII has a case here: a Kelvin sign is no k. Neither codings nor languages have anything in quotation marks.
    guard name == .acceptLanguage || name == .acceptEncoding,
      line.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\"") })
    else {
      return members.joined(separator: ",")
    }
    let choices = members.map(weighted)
    return (name == .acceptEncoding ? choices.sorted() : choices).joined(separator: ",")
  }

  /// One coding or language with its weight in one spelling: RFC 9110, section 12.4.2.
  private static func weighted(_ member: Substring) -> String {
    let text = member.lowercased()
    guard text.utf8.contains(UInt8(ascii: ";")) else { return text }
    let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(FieldList.trimmed)
    guard parts.count == 2, !parts[0].isEmpty, parts[1].hasPrefix("q=") else { return parts.joined(separator: ";") }
    var weight = parts[1].dropFirst(2)
    if weight.contains(".") {
      while weight.last == "0" { weight.removeLast() }
      if weight.last == "." { weight.removeLast() }
    }
    return weight == "1" ? String(parts[0]) : "\(parts[0]);q=\(weight)"
  }
}
#endif
