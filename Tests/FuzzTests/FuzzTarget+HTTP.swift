import CacheEngine
import Foundation

#if Proxy
import HTTPTypes
import NIOHTTP1

@testable import CacheEngineHTTP
@testable import CacheEngineProxy

extension FuzzTarget {
  private static let now = Duration.seconds(1_800_000_000)

  /// Field values as a server or a client may send them, a line each.
  func fields(_ text: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(32).map(String.init)
    for control in [CacheControl(lines), CacheControl(targeted: lines)].compactMap(\.self) {
      for name in ["max-age", "s-maxage", "stale-if-error"] {
        try expect((0...(1 << 31)).contains(control.seconds(name) ?? 0), "\(name) is \(control.seconds(name) ?? 0)")
      }
      _ = control.fields("private")
    }
    for line in lines {
      if let date = HTTPDate(line, now: Self.now) {
        try expect(HTTPDate(date.description, now: Self.now) == date, "\(line) is written as \(date)")
      }
      let members = FieldList.members(of: line)
      try expect(
        FieldList.members(of: members.joined(separator: ",")) == members, "members of \(line) fall apart anew")
      for tag in EntityTag.list(line) { try expect(tag.matchesWeakly(tag), "\(tag) does not match itself") }
      _ = FieldList.unquoted(line[...])
      if case .part(let part)? = ByteRange([line], of: 100) {
        try expect(!part.isEmpty && part.upperBound <= 100, "\(line) is the part \(part) of 100")
      }
      if let target = TargetURI(scheme: "http", authority: "example.com", path: line) {
        try expect(
          TargetURI(scheme: "http", authority: target.authority, path: target.path) == target,
          "\(line) has two forms")
        if let place = TargetURI(reference: line, from: target) {
          try expect(place.authority == target.authority, "\(line) leads elsewhere")
        }
      }
      if let authority = TargetURI.authority(line, scheme: "http") {
        try expect(TargetURI.authority(authority, scheme: "http") == authority, "\(line) has two forms")
      }
    }
    try selects(lines)
    let policy = HTTPCachePolicy(.shared)
    let response = HTTPTypes.HTTPResponse(status: .ok, headerFields: fields(of: lines))
    let request = HTTPTypes.HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
    if let kept = policy.keep(response, for: request, requestTime: Self.now, responseTime: Self.now) {
      _ = policy.decision(on: request, isSecure: false, stored: StoredVariants([kept]), at: Self.now + .seconds(5))
    }
  }

  /// What a request selects, the same request selects again.
  private func selects(_ lines: [String]) throws {
    let fields = fields(of: lines)
    if let selecting = SelectingFields(of: fields, named: fields) {
      try expect(selecting.match(fields), "a request does not match itself")
    }
  }

  /// The lines one by one in the fields of which caches read most.
  private func fields(of lines: [String]) -> HTTPFields {
    let names: [HTTPField.Name] = [
      .cacheControl, .vary, .expires, .date, .age, .eTag, .lastModified, .accept, .cdnCacheControl, .contentLength,
    ]
    return HTTPFields(
      zip(0..., lines).compactMap { place, line in
        HTTPField.isValidValue(line) ? HTTPField(name: names[place % names.count], value: line) : nil
      })
  }

  /// Stored responses, which anybody may have written into a shared store.
  func variants(_ bytes: Data) async throws {
    let coding = ByteCoding<StoredVariants>.storedVariants
    guard let read = try await attempt({ try coding.decode(bytes) }) else { return }
    try expect(try coding.decode(try coding.encode(read)) == read, "what was read is not what is written")
    _ = read.readable
  }

  /// The head of a request, a field on each line.
  func requestHead(_ text: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(200)
    let words = (lines.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count == 3 else { return }
    let version = words[2] == "HTTP/1.0" ? HTTPVersion.http1_0 : .http1_1
    let fields = lines.dropFirst().map { line in
      let name = line.prefix { $0 != ":" }
      return (String(name), String(line[name.endIndex...].dropFirst().drop { $0 == " " }))
    }
    let head = HTTPRequestHead(
      version: version, method: HTTPMethod(rawValue: words[0]), uri: words[1], headers: HTTPHeaders(fields))
    guard let origin = TargetURI(scheme: "http", authority: "origin.example", path: "/"),
      case .forward(let request, let target, _) = RequestCheck(
        head, origin: origin, peer: "127.0.0.1", settings: ProxySettings())
    else { return }
    try expect(TargetURI(request) == target, "a request is kept under what it is not for")
    try expect(request.authority == "origin.example", "a request goes elsewhere")
    try expect(request.path == "*" || request.path?.hasPrefix("/") == true, "the path is \(request.path ?? "none")")
    try expect(
      !(request.path ?? "").utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "the path has blanks: \(request.path ?? "")")
    for field in request.headerFields {
      try expect(!ConnectionFields.names.contains(field.name), "\(field.name) is forwarded")
      try expect(
        !field.value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }, "\(field.name) ends early")
    }
    try expect(
      !(request.headerFields.contains(.contentLength) && head.headers.contains(name: "transfer-encoding")),
      "a request has two ends")
  }
}

extension FuzzSeeds {
  static func variants() throws -> Data { try ByteCoding<StoredVariants>.storedVariants.encode(storedVariants) }

  static var storedVariants: StoredVariants {
    let request = HTTPFields([HTTPField(name: .accept, value: "text/html")])
    let vary = HTTPFields([HTTPField(name: .vary, value: "Accept, Accept-Language")])
    func response(_ text: String, _ fields: HTTPFields) -> StoredResponse {
      StoredResponse(
        head: HTTPTypes.HTTPResponse(status: .ok, headerFields: fields), body: Data(text.utf8),
        requestTime: .seconds(1_700_000_000), responseTime: .seconds(1_700_000_001),
        selecting: SelectingFields(of: request, named: fields) ?? SelectingFields(values: [:]))
    }
    return StoredVariants([response("one", vary), response("two", [.eTag: "\"a\""])])
  }
}
#else
extension FuzzTarget {
  func fields(_ text: String) throws {}
  func variants(_ bytes: Data) async throws {}
  func requestHead(_ text: String) throws {}
}

extension FuzzSeeds {
  static func variants() throws -> Data { Data() }
}
#endif
