/// JSON as a tree, with the members of objects by their names.
package enum JSONTree: Decodable, Sendable, Equatable {
  case null
  case bool(Bool)
  case number(String)
  case text(String)
  case array([JSONTree])
  case object([(name: String, value: JSONTree)])

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: Name.self) {
      self = .object(
        try members.allKeys.sorted { $0.stringValue < $1.stringValue }
          .map { ($0.stringValue, try members.decode(JSONTree.self, forKey: $0)) })
      return
    }
    if var elements = try? decoder.unkeyedContainer() {
      var found: [JSONTree] = []
      while !elements.isAtEnd { found.append(try elements.decode(JSONTree.self)) }
      self = .array(found)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Int64.self) {
      self = .number("\(number)")
    } else if let number = try? value.decode(Double.self) {
      self = .number("\(number)")
    } else {
      self = .text(try value.decode(String.self))
    }
  }

  package static func == (left: JSONTree, right: JSONTree) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)), (.text(let a), .text(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    default: false
    }
  }
}
