#if HTTP
import HTTPTypes
import Synchronization

/// The beginning of a content, of which only the rest is asked for: RFC 9111, section 3.3.
struct ContentCompletion: Sendable {
  private let stored: StoredResponse
  private let part: ContentPart
  private let tag: EntityTag

  /// `nil` if there is no beginning that the origin can be asked about, or if a request wants something else than the whole.
  init?(_ journey: Journey) {
    let conditions: Set<HTTPField.Name> = [.range, .ifRange, .ifNoneMatch, .ifModifiedSince]
    guard journey.asks, journey.reason == .partial, journey.request.method == .get,
      !journey.request.headerFields.contains(where: { conditions.contains($0.name) }),
      let place = journey.stored.selected(by: journey.request.headerFields)
    else { return nil }
    let parts = journey.stored.parts(of: place, for: journey.request.headerFields).map { journey.stored.responses[$0] }
    guard let stored = parts.first(where: { $0.part?.range.lowerBound == 0 }), let part = stored.part,
      let tag = stored.entityTag, tag.matchesStrongly(tag)
    else { return nil }
    self.stored = stored
    self.part = part
    self.tag = tag
  }

  /// Asks for the rest, or for the whole if the content is another one by now.
  func add(to request: inout HTTPTypes.HTTPRequest) {
    request.headerFields[.range] = "bytes=\(part.range.upperBound)-"
    request.headerFields[.ifRange] = tag.text
  }

  /// The whole.
  ///
  /// - Returns: `nil` if an answer is not the rest.
  func completed(by answer: HTTPAnswer) -> HTTPAnswer? {
    let new = StoredResponse(head: answer.head, requestTime: .zero, responseTime: .zero)
    let lengths = answer.head.headerFields[values: .contentLength]
    let rest = ContentPart(range: part.range.upperBound..<part.size, size: part.size)
    guard answer.head.status == .partialContent, ContentPart(answer.head.headerFields) == rest,
      new.entityTag?.matchesStrongly(tag) == true, answer.body.isDelimited,
      answer.body.length ?? rest.range.count == rest.range.count,
      lengths.allSatisfy({ $0 == String(rest.range.count) })
    else { return nil }
    var head = answer.head
    head.status = .ok
    head.headerFields[.contentRange] = nil
    head.headerFields[.contentLength] = String(part.size)
    let beginning = Beginning()
    let body = HTTPBody(length: part.size) { [stored, body = answer.body] in
      if beginning.isNext { return .bytes(stored.body) }
      var parts = body.makeAsyncIterator()
      return try await parts.next()
    }
    return HTTPAnswer(head: head, body: body)
  }

  /// Whether the beginning is still to be given.
  private final class Beginning: Sendable {
    private let isGiven = Atomic(false)

    var isNext: Bool { !isGiven.exchange(true, ordering: .relaxed) }
  }
}
#endif
