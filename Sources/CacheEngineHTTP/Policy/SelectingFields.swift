#if HTTP
package import HTTPTypes

/// The request fields that a stored response depends on, by its `Vary`, as they were in the request that it answered.
///
/// Two requests agree in a field if its lines, joined, differ in nothing but blanks around commas (RFC 9111, section 4.1). A
/// field that is not there differs from an empty one. Case counts, but in codings and languages, which have none (RFC 9110, sections
/// 8.4.1 and 12.5.4). The order counts: not all servers rank languages by their weights alone.
public struct SelectingFields: Hashable, Sendable {
  /// Each field with its value in the form that is compared; `nil` where the request had no such field.
  package var values: [HTTPField.Name: String?]

  package init(values: [HTTPField.Name: String?]) { self.values = values }

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
    guard let line = request.combined(name) else { return nil }
    let value = FieldList.members(of: line).joined(separator: ",")
    // Only ASCII has a case here: a Kelvin sign is no k.
    let hasCase = (name != .acceptLanguage && name != .acceptEncoding) || value.utf8.contains { $0 >= 0x80 }
    return hasCase ? value : value.lowercased()
  }
}
#endif
