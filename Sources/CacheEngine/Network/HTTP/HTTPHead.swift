import CacheCore

/// What of a server's answer breaks the rules.
///
/// The text completes a sentence that begins with the address.
struct HTTPViolation: Error, Equatable {
  let text: String
  /// Whether it is that the head is too long.
  var isTooLong = false
}

/// The head of an answer as it arrives, line by line, held to the limits.
///
/// Interim answers (1xx) are passed over, but their lines count: a server that sends them without end meets the
/// limit. The same holds for trailers.
struct HTTPHead: Sendable {
  /// The status of the final answer, once its status line was read.
  private(set) var status = 0
  /// What stands behind the status.
  private(set) var reason = ""
  /// Whether the answer was framed as HTTP/1, where the head says how the body ends.
  private(set) var isVersion1 = true
  /// Whether it was framed as HTTP/1.0, which has no chunks.
  private(set) var isVersion10 = false
  /// The header fields of the final answer.
  private(set) var headers: [HTTPHeader] = []
  /// Whether the final answer's head is complete.
  private(set) var isComplete = false

  private let limits: HTTPLimits
  private let isLatin1: Bool
  private var bytes = 0
  private var lines = 0

  /// `isLatin1`: Whether each byte of a value is a character, so that none is lost.
  init(limits: HTTPLimits, isLatin1: Bool = false) {
    self.limits = limits
    self.isLatin1 = isLatin1
  }

  /// A head that some other parser took apart.
  init(status: Int, headers: [HTTPHeader], limits: HTTPLimits) throws(HTTPViolation) {
    self.init(limits: limits)
    for header in headers { try count(header.name.utf8.count + header.value.utf8.count + 4) }
    self.status = status
    self.headers = headers
    isVersion1 = false
    isComplete = true
  }

  /// Takes in one line, its line end included or not.
  mutating func append(line: some BidirectionalCollection<UInt8>) throws(HTTPViolation) {
    try count(line.count)
    guard !isComplete else { return }
    let content = Self.content(of: line)
    if content.isEmpty {
      isComplete = status == 101 || status >= 200
    } else if content.starts(with: "HTTP/".utf8) {
      try beginAnswer(content)
    } else {
      headers.append(try field(content))
    }
  }

  /// A line without its end.
  static func content(of line: some BidirectionalCollection<UInt8>) -> [UInt8] {
    var content = Array(line)
    while let last = content.last, last == 0x0A || last == 0x0D { content.removeLast() }
    return content
  }

  private mutating func count(_ lineBytes: Int) throws(HTTPViolation) {
    bytes += lineBytes
    lines += 1
    if bytes > limits.headerBytes {
      throw HTTPViolation(
        text: "sends more than \(limits.headerBytes) bytes of header; raise HTTPLimits.headerBytes if that is right",
        isTooLong: true)
    }
    // The status line and the empty line at the end are no header lines.
    if lines - 2 > limits.headerCount {
      throw HTTPViolation(
        text: "sends more than \(limits.headerCount) header lines; raise HTTPLimits.headerCount if that is right",
        isTooLong: true)
    }
  }

  private mutating func beginAnswer(_ line: [UInt8]) throws(HTTPViolation) {
    let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: true)
    guard words.count >= 2, words[1].count == 3, words[1].allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      throw HTTPViolation(text: "answers with a malformed status line; check that it is an HTTP server")
    }
    reason = words.count > 2 ? String(decoding: words[2], as: UTF8.self) : ""
    status = words[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    isVersion1 = words[0].starts(with: "HTTP/1".utf8)
    isVersion10 = words[0].elementsEqual("HTTP/1.0".utf8)
    headers = []
  }

  /// The field of a line without its end.
  func field(_ line: [UInt8]) throws(HTTPViolation) -> HTTPHeader {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw HTTPViolation(text: "sends a header line without a colon; check that it is an HTTP server")
    }
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let value = line[(colon + 1)...].drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    // Old servers send Latin-1 in values; what is not UTF-8 is replaced, never refused. Folded lines begin with a
    // blank, so their name is no token.
    let header = HTTPHeader(
      String(decoding: line[..<colon], as: UTF8.self),
      isLatin1 ? String(latin1: value) : String(decoding: value, as: UTF8.self))
    guard header.isWellFormed else {
      throw HTTPViolation(text: "sends a malformed header field; check that it is an HTTP server")
    }
    return header
  }
}

extension String {
  /// A text of a character for each byte.
  package init(latin1 bytes: some Sequence<UInt8>) {
    self.init(UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
  }
}
