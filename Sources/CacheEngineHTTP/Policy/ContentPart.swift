#if HTTP
package import HTTPTypes

/// Which bytes of a content a response has, by its `Content-Range`: RFC 9110, section 14.4.
package struct ContentPart: Equatable, Sendable {
  /// The bytes; never none.
  package var range: Range<Int>
  /// How many bytes the content has.
  package var size: Int

  package init(range: Range<Int>, size: Int) {
    self.range = range
    self.size = size
  }

  /// Reads the fields of a response.
  ///
  /// - Returns: `nil` if there is no such field, or one that is not of bytes, does not tell the size or contradicts itself.
  package init?(_ fields: HTTPFields) {
    let lines = fields[values: .contentRange]
    guard lines.count == 1 else { return nil }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let numbers = words[1].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }
    guard numbers.count == 3, words[1] == "\(numbers[0])-\(numbers[1])/\(numbers[2])",
      numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }),
      let first = Int(numbers[0]), let last = Int(numbers[1]), let size = Int(numbers[2]), first <= last, last < size
    else { return nil }
    self.init(range: first..<last + 1, size: size)
  }

  /// The value of the field.
  package var text: String { "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)" }
}

extension StoredResponse {
  /// What is there of its content, if that is a part.
  package var part: ContentPart? {
    guard head.status == .partialContent, let part = ContentPart(head.headerFields), part.range.count == body.count
    else { return nil }
    return part
  }

  /// Whether a request can be answered with what is there of its content.
  package func covers(_ request: HTTPRequest) -> Bool {
    head.status != .partialContent || StoredAnswer.part(of: self, for: request) != nil
  }

  /// A part that came with another part or with the whole of the same content: RFC 9111, section 3.4.
  ///
  /// - Parameters:
  ///   - stored: What was stored before.
  ///   - policy: The rules by which stored fields are replaced.
  ///   - limit: The most bytes that come of it.
  /// - Returns: All that is known of the content; `nil` if the two do not belong together, or there is a gap between them.
  package func combined(with stored: StoredResponse, policy: HTTPCachePolicy, upTo limit: Int) -> StoredResponse? {
    guard let part, let tag = entityTag, stored.entityTag?.matchesStrongly(tag) == true else { return nil }
    if stored.head.status == .ok {
      guard stored.body.count == part.size else { return nil }
      var whole = policy.freshen(stored, with: head, requestTime: requestTime, responseTime: responseTime)
      whole.selecting = selecting
      return whole
    }
    guard let other = stored.part, other.size == part.size, part.range.lowerBound <= other.range.upperBound,
      other.range.lowerBound <= part.range.upperBound
    else { return nil }
    let start = min(part.range.lowerBound, other.range.lowerBound)
    let range = start..<max(part.range.upperBound, other.range.upperBound)
    guard range.count <= limit else { return nil }
    // Each time all of it is written anew: bytes that come one by one would take the square of the length.
    let added = range.count - other.range.count
    if added > 0, added < other.range.count / 16, range.count < part.size { return stored }
    var whole = self
    whole.trailers = [:]
    let before = stored.body.prefix(max(0, part.range.lowerBound - other.range.lowerBound))
    let after = stored.body.suffix(max(0, other.range.upperBound - part.range.upperBound))
    whole.body = before + body + after
    whole.setPart(ContentPart(range: range, size: part.size))
    return whole
  }

  /// Makes a part that has all of the content a whole.
  mutating func settlePart() {
    if let part { setPart(part) }
  }

  /// Says what is there of its content now.
  private mutating func setPart(_ part: ContentPart) {
    let isWhole = part.range.count == part.size
    head.status = isWhole ? .ok : .partialContent
    head.headerFields[.contentRange] = isWhole ? nil : part.text
    head.headerFields[.contentLength] = String(part.range.count)
  }
}
#endif
