#if HTTP
public import CacheCore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response as it is kept, with what must be known to use it again.
///
/// Times are the time of day, since 1970-01-01 00:00 UTC: a stored response outlives the process.
public struct StoredResponse: Sendable, Hashable {
  /// Status and fields, without those of the connection that it came over.
  public var head: HTTPTypes.HTTPResponse { didSet { reading = ResponseReading() } }
  /// All of its content, or the part that `Content-Range` names if the status is 206.
  public var body: Data
  /// The fields that came behind its content.
  public var trailers: HTTPFields
  /// Whether it answered a HEAD, so that it has no content and answers nothing else.
  public package(set) var isHeadOnly = false
  /// When the request was sent.
  public var requestTime: Duration { didSet { reading = ResponseReading() } }
  /// When the head of the response was there.
  public var responseTime: Duration { didSet { reading = ResponseReading() } }
  /// What other requests must have in common with the one that it answered.
  public var selecting: SelectingFields
  var reading = ResponseReading()

  package init(
    head: HTTPTypes.HTTPResponse, body: Data = Data(), trailers: HTTPFields = [:], requestTime: Duration,
    responseTime: Duration,
    selecting: SelectingFields = SelectingFields(values: [:])
  ) {
    self.head = head
    self.body = body
    self.trailers = trailers
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.selecting = selecting
  }

  /// Its entity tag, if it has exactly one, in which no bytes were lost because they are no UTF-8.
  package var entityTag: EntityTag? {
    let values = head.headerFields[values: .eTag]
    guard values.count == 1, !values[0].isEmpty else { return nil }
    let tag = EntityTag(values[0])
    return tag.isReadable ? tag : nil
  }

  /// Its `Last-Modified`, if there is one that can be sent back.
  package var lastModified: String? {
    let values = head.headerFields[values: .lastModified]
    return values.count == 1 && !values[0].isEmpty ? values[0] : nil
  }

  /// Whether the origin can be asked if it is still right.
  package var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// When the origin says that it made the response; the time of receipt if it does not.
  package var date: HTTPDate { times.date }

  /// What its fields say of time.
  private var times: ResponseReading.Times {
    reading.times {
      // Of several the earliest is the one that never makes a response younger than it is.
      let dates = head.headerFields[values: .date].compactMap { HTTPDate($0, now: responseTime) }
      let date = dates.min() ?? HTTPDate(responseTime)
      let apparent = Duration.seconds(max(0, Int(responseTime.components.seconds) - date.seconds))
      let told =
        head.headerFields[values: .age].first.flatMap { FieldList.members(of: $0).first }
        .flatMap(FieldList.number) ?? 0
      return ResponseReading.Times(
        date: date, ageReceived: max(apparent, .seconds(told) + (responseTime - requestTime)))
    }
  }

  /// Whether another response has the same content for the same requests, as far as validators tell.
  package func isSameRepresentation(as other: StoredResponse) -> Bool {
    entityTag == other.entityTag && lastModified == other.lastModified && selecting == other.selecting
  }

  /// How old the response is: RFC 9111, section 4.2.3.
  ///
  /// - Parameter now: The time of day.
  /// - Returns: Its age; `nil` if the time of day lies before that of its receipt, so that nobody can tell.
  package func age(at now: Duration) -> Duration? {
    guard now >= responseTime, responseTime >= requestTime else { return nil }
    return times.ageReceived + (now - responseTime)
  }

  /// What it weighs: its content, and its fields about.
  package var cost: Int {
    head.headerFields.reduce(body.count + 256) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
  }
}

/// The responses that are kept for one URI, of which a request selects one by `Vary`.
///
/// This is the value that a level keeps for ``HTTPCache``.
public struct StoredVariants: Sendable, Hashable, CostRepresentable {
  /// The responses, the latest received last.
  public var responses: [StoredResponse]

  /// Creates variants.
  ///
  /// - Parameter responses: The responses, the latest received last.
  public init(_ responses: [StoredResponse] = []) { self.responses = responses }

  /// The most responses that are kept for one URI; the one received first leaves.
  public static let limit = 16

  /// The cost of all responses: the bytes of their contents and, about, those of their fields.
  public var cost: Int { responses.reduce(64) { $0 + $1.cost } }

  /// The place of the response that a request selects: of those that match, the one with the latest `Date`.
  package func selected(by request: HTTPFields) -> Int? {
    // Most have one.
    if responses.count == 1 { return responses[0].selecting.match(request) ? 0 : nil }
    return responses.indices.filter { responses[$0].selecting.match(request) }
      .max {
        (responses[$0].date, responses[$0].responseTime, $0) < (responses[$1].date, responses[$1].responseTime, $1)
      }
  }

  /// What a request has in common with those that probably select the same: the fields that the latest response names.
  package func group(of request: HTTPFields) -> SelectingFields {
    responses.last.flatMap { SelectingFields(of: request, named: $0.head.headerFields) } ?? SelectingFields(values: [:])
  }

  /// Adds a response in place of those that the same request would select, but for other parts of the same content.
  package mutating func add(_ response: StoredResponse, for request: HTTPFields) {
    responses.removeAll { $0.selecting.match(request) && !$0.isApart(from: response) }
    responses.append(response)
    if responses.count > Self.limit { responses.removeFirst(responses.count - Self.limit) }
  }
}
#endif
