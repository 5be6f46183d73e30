#if Explorer
import ExplorerCommands
import ExplorerText
import Yams

/// Reads the fields of one mapping of a configuration and notes what is wrong with them.
///
/// Each field is asked for by name; what nobody asked for is unknown, and reported by ``finish()``.
struct FieldReader {
  private let fields: [(name: String, key: Node, value: Node)]
  private var known: [String] = []
  private(set) var problems: [ConfigurationProblem] = []
  let owner: String
  let file: String
  let place: Place

  /// `owner`: What the fields belong to, for messages: `memory`.
  init(_ node: Node, owner: String, file: String, place: Place) {
    self.owner = owner
    self.file = file
    self.place = place
    guard let mapping = node.mapping else {
      fields = []
      // `memory:` with nothing behind it means every default.
      if !node.isEmpty {
        problems.append(
          ConfigurationProblem(
            file: file, place: node.place, message: "\(owner) needs fields in braces or below it",
            remedy: "write \(owner): { … }"))
      }
      return
    }
    fields = mapping.map { ($0.key.string ?? "", $0.key, $0.value) }
  }

  /// Where each field stands.
  var origins: FieldOrigins {
    FieldOrigins(
      places: Dictionary(fields.compactMap { field in field.key.place.map { (field.name, $0) } }) { first, _ in first })
  }

  /// The value of a field as it stands there.
  mutating func node(_ name: String) -> Node? {
    if !known.contains(name) { known.append(name) }
    return fields.first { $0.name == name }?.value
  }

  /// The text of a field; numbers are text as well.
  mutating func text(_ name: String) -> String? {
    guard let node = node(name) else { return nil }
    guard let scalar = node.scalar, !node.isEmpty else {
      report("“\(name)” of \(owner) needs a single value", "write \(name): VALUE", at: node.place)
      return nil
    }
    return scalar.string
  }

  /// A quantity of a field.
  mutating func quantity<Value>(_ name: String, _ read: (String) throws(QuantityError) -> Value) -> Value? {
    guard let text = text(name) else { return nil }
    do {
      return try read(text)
    } catch {
      let place = fields.first { $0.name == name }?.value.place
      report("“\(name)” of \(owner): \(error.message)", error.remedy, at: place)
      return nil
    }
  }

  /// A whole number of a field within bounds.
  mutating func number(_ name: String, in bounds: ClosedRange<Int>) -> Int? {
    quantity(name) { (text) throws(QuantityError) in try Quantity.number(text, in: bounds) }
  }

  /// How long values live, `30s` or `{ after: 30s, jitter: 20% }`; the jitter is the share of that which may be missing.
  mutating func lifetime() -> (Duration?, jitter: Double) {
    let name = "expiry"
    guard let value = fields.first(where: { $0.name == name })?.value, value.mapping != nil else {
      return (quantity(name, Quantity.timeLimit), 0)
    }
    known.append(name)
    var inner = FieldReader(value, owner: name, file: file, place: value.place ?? place)
    let after = inner.require("after", "write after: 30s", inner.quantity("after", Quantity.timeLimit))
    let jitter = inner.quantity("jitter", Quantity.probability) ?? 0
    problems += inner.finish()
    return (after, jitter)
  }

  /// A field that must be there.
  mutating func require<Value>(_ name: String, _ remedy: String, _ value: Value?) -> Value? {
    if value == nil, !fields.contains(where: { $0.name == name }) {
      report("\(owner) needs “\(name)”", remedy, at: place)
    }
    return value
  }

  /// Fields that nobody asked for, for operators whose level stands among their own fields.
  ///
  /// `names`: Only these; `nil` for all.
  mutating func takeRest(among names: [String]?) -> [(name: String, key: Node, value: Node)] {
    let rest = fields.filter { !known.contains($0.name) && names?.contains($0.name) ?? true }
    known += rest.map(\.name)
    return rest
  }

  mutating func report(_ message: String, _ remedy: String, at place: Place?) {
    problems.append(
      ConfigurationProblem(file: file, place: place ?? self.place, message: message, remedy: remedy))
  }

  /// Everything that was found, with the fields that are not known.
  consuming func finish() -> [ConfigurationProblem] {
    for field in fields where !known.contains(field.name) {
      problems.append(
        ConfigurationProblem(
          file: file, place: field.key.place ?? place, message: "\(owner) has no field “\(field.name)”",
          remedy: NearestName.remedy(for: field.name, among: known)))
    }
    return problems
  }
}

extension Node {
  var place: Place? { mark.map { Place(line: $0.line, column: $0.column) } }

  /// Nothing stands there: an empty value or `null`.
  var isEmpty: Bool {
    guard let scalar else { return false }
    return scalar.style != .singleQuoted && scalar.style != .doubleQuoted && ["", "~", "null"].contains(scalar.string)
  }
}
#endif
