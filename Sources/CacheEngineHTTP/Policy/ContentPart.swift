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
    if isHeadOnly { return request.method == .head }
    return head.status != .partialContent || StoredAnswer.part(of: self, for: request) != nil
  }

  /// Whether this and another one are parts of the same content with a gap between them.
  func isApart(from other: StoredResponse) -> Bool {
    guard let part, let another = other.partOfSame(as: self) else { return false }
    return another.range.upperBound < part.range.lowerBound || part.range.upperBound < another.range.lowerBound
  }

  /// What is there of the content that another part is of; `nil` if this is of another one, as far as anybody can tell.
  fileprivate func partOfSame(as other: StoredResponse) -> ContentPart? {
    guard let tag = other.entityTag, entityTag?.matchesStrongly(tag) == true, let part, part.size == other.part?.size
    else { return nil }
    return part
  }

  /// The whole of a content, freshened by a part that came of it; `nil` if they do not belong together.
  fileprivate func whole(of part: StoredResponse, policy: HTTPCachePolicy) -> StoredResponse? {
    guard head.status == .ok, let tag = part.entityTag, entityTag?.matchesStrongly(tag) == true,
      body.count == part.part?.size
    else { return nil }
    var whole = policy.freshen(
      self, with: part.head, requestTime: part.requestTime, responseTime: part.responseTime)
    whole.selecting = part.selecting
    return whole
  }

  /// This part and an older one of the same content as one: RFC 9111, section 3.4; `nil` if there is a gap between them.
  fileprivate func joined(with stored: StoredResponse) -> StoredResponse? {
    guard let part, let other = stored.partOfSame(as: self), part.range.lowerBound <= other.range.upperBound,
      other.range.lowerBound <= part.range.upperBound
    else { return nil }
    let start = min(part.range.lowerBound, other.range.lowerBound)
    let range = start..<max(part.range.upperBound, other.range.upperBound)
    var both = self
    both.trailers = [:]
    let before = stored.body.prefix(max(0, part.range.lowerBound - other.range.lowerBound))
    let after = stored.body.suffix(max(0, other.range.upperBound - part.range.upperBound))
    both.body = before + body + after
    both.setPart(ContentPart(range: range, size: part.size))
    return both
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

extension StoredVariants {
  /// The most parts with gaps between them that are kept of one content.
  package static let partLimit = 8

  /// The place of what answers a request: of what it selects or, if that is a part without what is wanted, of another part of the
  /// same content.
  package func selected(for request: HTTPRequest) -> Int? {
    guard let place = selected(by: request.headerFields) else { return nil }
    if responses[place].covers(request) { return place }
    return parts(of: place, for: request.headerFields).first { responses[$0].covers(request) } ?? place
  }

  /// The places of a part and of the others of the same content.
  func parts(of place: Int, for request: HTTPFields) -> [Int] {
    [place]
      + responses.indices.filter {
        responses[$0].isApart(from: responses[place]) && responses[$0].selecting.match(request)
      }
  }

  /// Adds a response to what is there of the same content, in place of everything else that the same request would select.
  ///
  /// A part freshens the whole that it is of, and becomes one with parts that it touches; others of the same content stay beside it.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The fields of the request that it answered.
  ///   - policy: The rules by which stored fields are replaced.
  ///   - limit: The most bytes that all contents come to; the oldest leave. The new one stays in any case.
  package mutating func add(
    _ response: StoredResponse, for request: HTTPFields, policy: HTTPCachePolicy, upTo limit: Int
  ) {
    let others = responses.filter { $0.selecting.match(request) }
    if let whole = others.lazy.compactMap({ $0.whole(of: response, policy: policy) }).first {
      return add(whole, for: request)
    }
    var (joined, count, taken, total) = (response, 0, 0, 0)
    for other in others where other.partOfSame(as: response) != nil {
      total += other.body.count
      // Once two have become one, a third touches it only if it touched one of them.
      guard let both = joined.joined(with: other), both.body.count <= limit else { continue }
      (joined, count, taken) = (both, count + 1, taken + other.body.count)
    }
    // Each time all of it is written anew: bytes that come one by one would take the square of the length.
    let added = joined.body.count - taken
    if count < 2, added > 0, added < total / 16, joined.head.status == .partialContent { return }
    add(joined, for: request)
    shrink(to: limit, for: request)
  }

  /// Lets the oldest leave until the parts of what came last are few enough, and all contents are of few enough bytes.
  private mutating func shrink(to limit: Int, for request: HTTPFields) {
    guard let latest = responses.indices.last else { return }
    let parts = parts(of: latest, for: request)
    let old = Set(parts.dropFirst().prefix(max(0, parts.count - Self.partLimit)))
    responses = responses.indices.filter { !old.contains($0) }.map { responses[$0] }
    var bytes = responses.reduce(0) { $0 + $1.body.count }
    while bytes > limit, responses.count > 1 { bytes -= responses.removeFirst().body.count }
  }
}
#endif
