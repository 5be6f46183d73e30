import Foundation

/// As much of JSON Schema as the schemas of the documentation use.
struct JSONSchema {
  private let schema: [String: Any]

  /// The schema of that name in Documentation/json.
  init(named name: String) throws {
    let file = Program.root.appending(path: "Documentation/json/\(name).schema.json")
    let read = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    schema = try Self.object(read)
  }

  init(_ schema: [String: Any]) { self.schema = schema }

  struct NoObject: Error {}

  private static func object(_ value: Any) throws -> [String: Any] {
    guard let object = value as? [String: Any] else { throw NoObject() }
    return object
  }

  /// What is wrong with a line of JSON; empty if nothing is.
  func faults(in line: String) -> [String] {
    guard let value = try? JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed) else {
      return ["it is no JSON: \(line)"]
    }
    return Self.faults(value, schema, at: "$")
  }

  /// The words of the vocabulary that are understood: another one would not be checked.
  private static let known: Set = [
    "$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items", "enum",
    "const",
    "oneOf",
  ]

  private static func faults(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
    var faults = Set(schema.keys).subtracting(known).map { "\(place): “\($0)” of the schema is not understood" }
    if let constant = schema["const"], !same(constant, value) { faults.append("\(place): \(value) is not \(constant)") }
    if let choices = schema["enum"] as? [Any], !choices.contains(where: { same($0, value) }) {
      faults.append("\(place): \(value) is none of \(choices)")
    }
    if let choices = schema["oneOf"] as? [[String: Any]],
      choices.count(where: { Self.faults(value, $0, at: place).isEmpty }) != 1
    {
      faults.append("\(place): not exactly one of the choices fits \(value)")
    }
    if let type = schema["type"] {
      let names = type as? [String] ?? [type as? String ?? ""]
      if !names.contains(where: { isA(value, $0) }) { faults.append("\(place): \(value) is no \(names)") }
    }
    if let items = schema["items"] as? [String: Any], let array = value as? [Any] {
      for (index, item) in array.enumerated() { faults += Self.faults(item, items, at: "\(place)[\(index)]") }
    }
    guard let object = value as? [String: Any] else { return faults }
    for name in schema["required"] as? [String] ?? [] where object[name] == nil {
      faults.append("\(place): \(name) is missing")
    }
    let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
    for (name, field) in object {
      if let property = properties[name] {
        faults += Self.faults(field, property, at: "\(place).\(name)")
      } else if let others = schema["additionalProperties"] as? [String: Any] {
        faults += Self.faults(field, others, at: "\(place).\(name)")
      } else if schema["additionalProperties"] as? Bool == false {
        faults.append("\(place): \(name) is not in the schema")
      }
    }
    return faults
  }

  private static func same(_ left: Any, _ right: Any) -> Bool {
    (left as? NSObject)?.isEqual(right as? NSObject) == true
  }

  private static func isA(_ value: Any, _ type: String) -> Bool {
    let number = value as? NSNumber
    let isFlag = number.map { ["c", "B"].contains(unsafe String(cString: $0.objCType)) } ?? false
    return switch type {
    case "string": value is String
    case "object": value is [String: Any]
    case "array": value is [Any]
    case "null": value is NSNull
    case "boolean": isFlag
    case "number": number != nil && !isFlag
    case "integer": number.map { !isFlag && $0.doubleValue == $0.doubleValue.rounded() } ?? false
    default: false
    }
  }
}
