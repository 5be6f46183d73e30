import CacheCore

/// Where the body of an answer ends, by its head, and whether the head may be believed.
///
/// After RFC 9112, section 6, but stricter: what two readers could understand differently is refused and never
/// mended, since a wrong guess stores half a value or the beginning of somebody else's.
struct HTTPFraming: Sendable, Equatable {
  /// The length that the head announces, if it does.
  let announcedBytes: Int?
  /// Whether the end of the body can be told from a connection that broke off.
  let isDelimited: Bool

  /// Examines a complete head.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - request: What was asked for.
  /// - Throws: ``HTTPViolation`` if the body could not be trusted.
  init(_ head: HTTPHead, for request: TransportRequest) throws(HTTPViolation) {
    try self.init(head, hasBody: head.status != 204 && head.status != 304)
    guard request.isVerbatim || (200..<300).contains(head.status) else { return }
    if let announcedBytes, announcedBytes > request.limits.bodyBytes { throw Self.tooLong(request.limits) }
    if !request.isVerbatim { try Self.checkEncoding(head.headers, for: request) }
    if head.isVersion1, !isDelimited {
      throw HTTPViolation(
        text: "sends a body with neither a length nor chunks, so that nobody can tell whether it is whole; "
          + "have the server send Content-Length")
    }
  }

  /// Examines a complete head whose body is passed on as it comes.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - hasBody: Whether a body follows.
  /// - Throws: ``HTTPViolation`` if two readers could find different ends of it.
  init(_ head: HTTPHead, hasBody: Bool) throws(HTTPViolation) {
    let lengths = head.headers.values(of: "Content-Length")
    let codings = head.headers.values(of: "Transfer-Encoding")
    guard lengths.count <= 1 else {
      throw HTTPViolation(text: "announces its length twice; mend the server or a proxy before it")
    }
    guard lengths.isEmpty || codings.isEmpty else {
      throw HTTPViolation(text: "announces both a length and chunks; mend the server or a proxy before it")
    }
    guard codings.isEmpty || !head.isVersion10 else {
      throw HTTPViolation(text: "sends chunks in HTTP/1.0, which has none; mend the server or a proxy before it")
    }
    guard codings.isEmpty || (codings.count == 1 && codings[0].lowercased() == "chunked") else {
      throw HTTPViolation(text: "sends a transfer encoding other than chunked, which was not asked for")
    }
    let announced = try lengths.first.map(Self.length)
    announcedBytes = hasBody ? announced : nil
    isDelimited = !hasBody || announced != nil || !codings.isEmpty
  }

  /// Checks that as much came as was announced.
  func checkBody(bytes: Int) throws(HTTPViolation) {
    guard let announcedBytes, announcedBytes != bytes else { return }
    throw HTTPViolation(text: "announced \(announcedBytes) bytes and sent \(bytes); try again")
  }

  static func tooLong(_ limits: HTTPLimits) -> HTTPViolation {
    HTTPViolation(
      text: "sends more than the limit of \(limits.bodyBytes) bytes; raise HTTPLimits.bodyBytes if that is right")
  }

  private static func length(_ text: String) throws(HTTPViolation) -> Int {
    // `Int` alone would let a sign pass.
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int(text) else {
      throw HTTPViolation(text: "announces a length that is no number of bytes; mend the server or a proxy before it")
    }
    return length
  }

  private static func checkEncoding(_ headers: [HTTPHeader], for request: TransportRequest) throws(HTTPViolation) {
    let asked = request.headers.values(of: "Accept-Encoding").flatMap(tokens)
    let sent = headers.values(of: "Content-Encoding").flatMap(tokens)
    guard sent.allSatisfy({ $0 == "identity" || asked.contains($0) }) else {
      throw HTTPViolation(
        text: "sends an encoded body that was not asked for; have the server honour Accept-Encoding: identity")
    }
  }

  private static func tokens(_ list: String) -> [String] {
    list.lowercased().split(separator: ",").map { item in
      String(item.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" })
    }
  }
}
