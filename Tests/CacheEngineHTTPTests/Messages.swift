#if HTTP
import CacheEngineHTTP
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// 2026-01-01 00:00 UTC, a Thursday.
let newYear = Duration.seconds(1_767_225_600)

/// A GET of `http://example.org/a` with these fields.
func get(_ fields: String..., method: HTTPRequest.Method = .get, path: String = "/a") -> HTTPRequest {
  HTTPRequest(
    method: method, scheme: "http", authority: "example.org", path: path, headerFields: HTTPFields(lines: fields))
}

/// A response with these fields.
func answer(_ status: Int = 200, _ fields: String...) -> HTTPResponse {
  HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: HTTPFields(lines: fields))
}

/// A response as it would be stored, received at New Year after no delay.
func stored(
  _ fields: String..., to request: HTTPRequest = get(), status: Int = 200, body: String = "0123456789",
  at time: Duration = newYear
) -> StoredResponse {
  var lines = fields
  if !lines.contains(where: { $0.lowercased().hasPrefix("date:") }) { lines.append("Date: \(HTTPDate(time))") }
  let head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: HTTPFields(lines: lines))
  return StoredResponse(
    head: head, body: .init(body.utf8), requestTime: time, responseTime: time,
    selecting: SelectingFields(of: request.headerFields, named: head.headerFields) ?? SelectingFields(values: [:]))
}

extension HTTPFields {
  /// Fields from lines such as `Name: value`.
  init(lines: [String]) {
    self.init()
    for line in lines {
      let name = line.prefix { $0 != ":" }
      let value = line.dropFirst(name.count + 1)
      append(HTTPField(name: HTTPField.Name(String(name))!, value: String(value.drop { $0 == " " })))
    }
  }
}

/// Repeatable chance: SplitMix64.
struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func one<Element>(of elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }

  mutating func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
#endif
