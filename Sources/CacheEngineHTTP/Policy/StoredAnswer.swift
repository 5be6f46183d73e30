#if HTTP
package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a stored response says to one request: whole, not modified, or a part.
package struct StoredAnswer: Sendable {
  package var head: HTTPResponse
  /// The part of the stored content that goes with it.
  package var range: Range<Int>

  private static let representation: Set<HTTPField.Name> = [
    .contentLength, .contentType, .contentEncoding, .contentLanguage, .contentRange,
  ]

  /// Decides by the conditions and the range of a request.
  ///
  /// - Parameters:
  ///   - response: The stored response.
  ///   - request: The request, a GET or a HEAD.
  ///   - now: The time of day.
  ///   - size: How many bytes its content has, if they are not all there yet.
  package init(_ response: StoredResponse, to request: HTTPRequest, at now: Duration, size: Int? = nil) {
    head = response.head
    let age = response.age(at: now) ?? .zero
    head.headerFields[.age] = String(max(0, min(age.components.seconds, 1 << 31)))
    let size = size ?? response.body.count
    range = request.method == .head ? 0..<0 : 0..<size
    guard [200, 206].contains(head.status.code) else { return }
    if Self.isNotModified(response, for: request) {
      head.status = .notModified
      head.headerFields.remove(Self.representation)
      range = 0..<0
      return
    }
    if let part = response.part {
      if let wanted = Self.part(of: response, for: request) { give(wanted, of: part) }
      return
    }
    guard request.method == .get, let wanted = ByteRange(request.headerFields[values: .range], of: size),
      Self.holds(request.headerFields[values: .ifRange], of: response)
    else { return }
    switch wanted {
    case .part(let part): give(part, of: ContentPart(range: 0..<size, size: size))
    case .unsatisfiable:
      head.status = .rangeNotSatisfiable
      head.headerFields.remove(Self.representation)
      head.headerFields[.contentRange] = "bytes */\(size)"
      head.headerFields[.contentLength] = "0"
      range = 0..<0
    }
  }

  /// Answers with some of the bytes that are there.
  private mutating func give(_ wanted: Range<Int>, of part: ContentPart) {
    head.status = .partialContent
    head.headerFields[.contentRange] = ContentPart(range: wanted, size: part.size).text
    head.headerFields[.contentLength] = String(wanted.count)
    range = wanted.lowerBound - part.range.lowerBound..<wanted.upperBound - part.range.lowerBound
  }

  /// The bytes that a request wants of a content of which a part is stored; `nil` if that does not have them all.
  static func part(of response: StoredResponse, for request: HTTPRequest) -> Range<Int>? {
    guard request.method == .get, let part = response.part,
      case .part(let wanted)? = ByteRange(request.headerFields[values: .range], of: part.size),
      wanted.lowerBound >= part.range.lowerBound, wanted.upperBound <= part.range.upperBound,
      holds(request.headerFields[values: .ifRange], of: response)
    else { return nil }
    return wanted
  }

  private static func isNotModified(_ response: StoredResponse, for request: HTTPRequest) -> Bool {
    let fields = request.headerFields
    if let condition = fields.combined(.ifNoneMatch) {
      if FieldList.trimmed(condition[...]) == "*" { return true }
      guard let tag = response.entityTag else { return false }
      return EntityTag.list(condition).contains { $0.matchesWeakly(tag) }
    }
    let lines = fields[values: .ifModifiedSince]
    guard lines.count == 1, let since = HTTPDate(lines[0], now: response.responseTime) else { return false }
    // Without Last-Modified the response cannot have been made later than its date.
    let modified = response.lastModified.flatMap { HTTPDate($0, now: response.responseTime) }
    return (modified ?? response.date) <= since
  }

  /// RFC 9110, section 13.1.5: the validator of an `If-Range` has to be strong.
  private static func holds(_ condition: [String], of response: StoredResponse) -> Bool {
    guard let text = condition.first else { return true }
    guard condition.count == 1 else { return false }
    if text.contains("\"") {
      return response.entityTag?.matchesStrongly(EntityTag(FieldList.trimmed(text[...]))) == true
    }
    // A date is strong only if the content was a minute old when it was sent.
    guard let date = HTTPDate(text, now: response.responseTime),
      let modified = response.lastModified.flatMap({ HTTPDate($0, now: response.responseTime) })
    else { return false }
    return date == modified && response.date.seconds - modified.seconds >= 60
  }
}

/// The one part of a content that a `Range` field asks for: RFC 9110, section 14.2.
package enum ByteRange: Equatable {
  case part(Range<Int>)
  case unsatisfiable

  /// Reads a field.
  ///
  /// Parts that are not there are left out, and those that overlap or touch each other are one (section 15.3.7.2).
  ///
  /// - Returns: `nil` if there is none, if it cannot be read or if it asks for several parts: then it is ignored.
  package init?(_ lines: [String], of size: Int) {
    guard lines.count == 1, let equals = lines[0].firstIndex(of: "="),
      lines[0][..<equals].lowercased() == "bytes"
    else { return nil }
    let texts = FieldList.members(of: String(lines[0][equals...].dropFirst()))
    let parts = texts.compactMap { Self.part($0, of: size) }
    guard !texts.isEmpty, parts.count == texts.count else { return nil }
    let present = parts.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
    guard let first = present.first else {
      self = .unsatisfiable
      return
    }
    var whole = first
    for part in present {
      guard part.lowerBound <= whole.upperBound else { return nil }
      whole = whole.lowerBound..<max(whole.upperBound, part.upperBound)
    }
    self = .part(whole)
  }

  /// One part; empty if nothing of it is there, `nil` if it cannot be read.
  private static func part(_ text: Substring, of size: Int) -> Range<Int>? {
    let ends = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (number(ends[0]), number(ends[1])) {
    case (nil, let suffix?) where ends[0].isEmpty:
      // The last bytes of nothing are all of it (RFC 9110, section 14.1.2), which no part can say.
      if suffix > 0, size == 0 { return nil }
      return max(0, size - suffix)..<size
    case (let first?, nil) where ends[1].isEmpty: return min(first, size)..<size
    case (let first?, let last?) where first <= last: return min(first, size)..<(last < size ? last + 1 : size)
    default: return nil
    }
  }

  /// A position; beyond what can be counted, the greatest one.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int(text) ?? .max
  }
}
#endif
