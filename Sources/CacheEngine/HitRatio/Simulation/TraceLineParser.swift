import CacheCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a line asks for.
struct TraceEntry {
  var key: String
  var size: String?
  /// How many requests it stands for.
  var count = 1
  /// The first of as many blocks in a row; `nil` if all requests are for the key.
  var block: UInt64?
  /// When it came, on a clock of the trace's own.
  var time: Duration?
}

/// Reads the lines of a trace, one by one, of any format that has lines.
struct TraceLineParser {
  struct Problem: Error {
    var message: String
    var remedy: String
  }

  typealias Bytes = ArraySlice<UInt8>

  /// A line that stands for more requests is refused: as many as CacheLib repeats.
  static let longestRun = 1 << 16

  let format: TraceFormat
  /// How many requests were no reads.
  private(set) var skipped = 0
  private(set) var hasHeader = false
  private var columns: Columns?

  init(format: TraceFormat) { self.format = format }

  /// libCacheSim has its names behind a `#`.
  func isComment(_ line: Bytes) -> Bool {
    line.first == UInt8(ascii: "#") && !(format == .csv && columns == nil && Columns(header: Self.fields(line)) != nil)
  }

  /// Takes a line apart; `nil` if it is no read.
  mutating func entry(of line: Bytes) throws(Problem) -> TraceEntry? {
    switch format {
    case .log: try logged(line)
    case .json: try object(line)
    case .csv: try row(line)
    case .twitter: try tweet(line)
    case .arc: try run(line)
    case .lirs: try block(line)
    case .text, .oracleGeneral, .u16, .u32: try text(line)
    }
  }

  private func text(_ line: Bytes) throws(Problem) -> TraceEntry {
    let tab = line.firstIndex(of: UInt8(ascii: "\t"))
    guard tab != line.startIndex else {
      throw Problem(message: "has no key before the tab", remedy: "write a key first")
    }
    let size = tab.map { String(decoding: line[($0 + 1)...], as: UTF8.self) }
    return TraceEntry(key: try Self.key(line[..<(tab ?? line.endIndex)]), size: size)
  }

  // MARK: - Access logs

  /// `HOST IDENT USER [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 2326`, and whatever comes behind it.
  private mutating func logged(_ line: Bytes) throws(Problem) -> TraceEntry? {
    let remedy = "write the common or combined log format, or leave the line out"
    guard let begin = Self.beginningOfTime(line),
      let end = line[begin...].firstIndex(of: UInt8(ascii: "]")), end - begin > 12
    else { throw Problem(message: "has no time in brackets", remedy: remedy) }
    guard line[(end + 1)...].starts(with: " \"".utf8), let quote = Self.endOfQuote(line, from: end + 3) else {
      throw Problem(message: "has no request in quotation marks after the time", remedy: remedy)
    }
    let rest = line[(quote + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
    // Varnish writes a dash where it gave no answer itself, as for a method that it does not know.
    let isAnswered = rest.first?.elementsEqual("-".utf8) == false
    guard rest.count >= 2, !isAnswered || (rest[0].count == 3 && Self.isNumber(rest[0])),
      rest[1].elementsEqual("-".utf8) || Self.isNumber(rest[1])
    else { throw Problem(message: "has no status and size after the request", remedy: remedy) }
    guard isAnswered else { return skip() }
    // A request with another method, or bytes that were no request at all.
    let words = line[(end + 3)..<quote].split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard words.count == 2, Self.isRead(words[0], among: ["GET", "HEAD"]) else { return skip() }
    var target = words[1]
    if let space = target.lastIndex(of: UInt8(ascii: " ")), target[(space + 1)...].starts(with: "HTTP/".utf8) {
      target = target[..<space]
    }
    guard !target.isEmpty else { return skip() }
    let isWhole = words[0].elementsEqual("GET".utf8) && Self.isWhole(rest[0])
    let size = rest[1].elementsEqual("-".utf8) ? "0" : Self.string(rest[1])
    return TraceEntry(
      key: Self.string(target), size: isWhole ? size : nil, time: Self.time(line[(begin + 1)..<end]))
  }

  /// Whether an answer is as large as the value: not a part of it, nor the word that nothing changed, nor an error that passes.
  private static func isWhole(_ status: Bytes) -> Bool {
    guard status.count == 3, isNumber(status) else { return true }
    switch status.first {
    case UInt8(ascii: "2"): return !status.elementsEqual("206".utf8)
    case UInt8(ascii: "3"): return !status.elementsEqual("304".utf8)
    default: return ["404", "410"].contains { status.elementsEqual($0.utf8) }
    }
  }

  /// The first bracket with a date behind it; an address may stand in brackets before.
  private static func beginningOfTime(_ line: Bytes) -> Int? {
    var rest = line
    while let begin = rest.firstIndex(of: UInt8(ascii: "[")) {
      if line.endIndex - begin > 12, line[begin + 3] == UInt8(ascii: "/"), line[begin + 7] == UInt8(ascii: "/"),
        line[begin + 12] == UInt8(ascii: ":")
      {
        return begin
      }
      rest = line[(begin + 1)...]
    }
    return nil
  }

  /// `10/Oct/2000:13:55:36 -0700`; `nil` if that is no time.
  private static func time(_ text: Bytes) -> Duration? {
    let parts = text.split(omittingEmptySubsequences: false) { [UInt8(ascii: "/"), UInt8(ascii: ":")].contains($0) }
    guard parts.count == 6, let day = Int(string(parts[0])),
      let month = months.firstIndex(of: string(parts[1]).lowercased()), let year = Int(string(parts[2])),
      let hour = Int(string(parts[3])), let minute = Int(string(parts[4]))
    else { return nil }
    let last = string(parts[5]).split(separator: " ")
    guard let first = last.first, let second = Int(first), (0...60).contains(second), (0...59).contains(minute),
      (0...23).contains(hour), (1...31).contains(day), (1_000...9_999).contains(year)
    else { return nil }
    let zone = last.count == 2 ? Int(last[1]) ?? 0 : 0
    guard (-2_400...2_400).contains(zone) else { return nil }
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013), for years that are positive.
    let shifted = month < 2 ? year - 1 : year
    let ofEra = shifted % 400
    let ofYear = (153 * (month > 1 ? month - 2 : month + 10) + 2) / 5 + day - 1
    let days = shifted / 400 * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    return .seconds(days * 86_400 + hour * 3_600 + minute * 60 + second - (zone / 100 * 60 + zone % 100) * 60)
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Seconds, milliseconds or microseconds since some moment, by their size, or a time of ISO 8601 or of a log; `nil` for anything else.
  private static func time(_ text: String) -> Duration? {
    if text.utf8.dropFirst(2).first == UInt8(ascii: "/") { return time(Array(text.utf8)[...]) }
    // Finding out that a text is no such time takes longer than everything else that is done with a line.
    let isDate = text.utf8.dropFirst(10).first == UInt8(ascii: "T")
    let number = isDate ? (try? Date.ISO8601FormatStyle().parse(text))?.timeIntervalSince1970 : Double(text)
    guard let number, number.isFinite, number >= 0 else { return nil }
    let seconds = number >= 1e14 ? number / 1e6 : number >= 1e11 ? number / 1e3 : number
    return seconds < 9e9 ? .nanoseconds(Int64(seconds * 1e9)) : nil
  }

  /// Servers write a quotation mark within as `\"` or `\x22`.
  private static func endOfQuote(_ line: Bytes, from begin: Int) -> Int? {
    var position = begin
    while position < line.endIndex {
      switch line[position] {
      case UInt8(ascii: "\""): return position
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    return nil
  }

  // MARK: - JSON

  private mutating func object(_ line: Bytes) throws(Problem) -> TraceEntry? {
    let object: JSONRequest
    // Servers write some bytes of a request as they came.
    do { object = try JSONDecoder().decode(JSONRequest.self, from: Data(Self.string(line).utf8)) } catch {
      throw Problem(message: "is no JSON object", remedy: "write one object on each line, in UTF-8")
    }
    let method = object.method?.uppercased()
    if let method, !Self.reads.contains(method) { return skip() }
    guard let key = object.key else {
      throw Problem(message: "has no key", remedy: "name it \(JSONRequest.keys.joined(separator: ", "))")
    }
    // Bytes that were no request at all.
    guard !key.isEmpty else { return skip() }
    let size = object.size
    guard size.map({ Self.isNumber(Array($0.utf8)[...]) }) ?? true else {
      throw Problem(
        message: "has “\(size ?? "")” for a size", remedy: "write bytes as a number from 0, or leave it out")
    }
    let isWhole = object.isWhole && method != "HEAD" && Self.isWhole(Array((object.status ?? "").utf8)[...])
    return TraceEntry(key: key, size: isWhole ? size : nil, time: object.time.flatMap(Self.time))
  }

  // MARK: - Columns

  private mutating func row(_ line: Bytes) throws(Problem) -> TraceEntry? {
    let fields = Self.fields(line)
    guard let columns else {
      columns = Columns(header: fields)
      hasHeader = columns != nil
      guard !hasHeader else { return nil }
      guard (3...4).contains(fields.count), Self.isNumber(fields[2]) else {
        throw Problem(
          message: "does not name the columns",
          remedy: "begin with a line such as time,key,size, or name another format")
      }
      columns = Columns(time: 0, key: 1, size: 2, count: fields.count)
      return try row(line)
    }
    guard fields.count == columns.count else {
      throw Problem(
        message: "has \(fields.count == 1 ? "1 field" : "\(fields.count) fields")",
        remedy: "write \(columns.count), as the first line has")
    }
    if let operation = columns.operation, !Self.isRead(fields[operation], among: Self.reads) { return skip() }
    var entry = TraceEntry(key: try Self.key(fields[columns.key]))
    if let column = columns.size { entry.size = try Self.size(fields[column], isRead: columns.operation != nil) }
    if let column = columns.repeats { entry.count = try Self.run(fields[column]) }
    if let column = columns.time { entry.time = Self.time(Self.string(fields[column])) }
    return entry
  }

  /// The key may have commas in it, so the others are counted from both ends.
  private mutating func tweet(_ line: Bytes) throws(Problem) -> TraceEntry? {
    let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard fields.count >= 7, Self.isNumber(fields[0]),
      fields.suffix(5).map(Self.isNumber) == [true, true, true, false, true]
    else {
      throw Problem(
        message: "is not of Twitter's format",
        remedy: "write time, key, key size, value size, client, operation and lifetime, with commas between them")
    }
    let values = Array(fields.suffix(5))
    let operation = Self.string(values[3])
    guard ["get", "gets"].contains(operation) else {
      guard Self.writes.contains(operation) else {
        throw Problem(message: "has “\(operation)” for an operation", remedy: "write get, gets, or one that writes")
      }
      return skip()
    }
    return TraceEntry(
      key: try Self.key(line[fields[1].startIndex..<fields[fields.count - 6].endIndex]),
      size: try Self.size(values[1], isRead: true), time: Self.time(Self.string(fields[0])))
  }

  // MARK: - Blocks

  private func run(_ line: Bytes) throws(Problem) -> TraceEntry {
    let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard fields.count == 4, fields.allSatisfy(Self.isNumber), let first = UInt64(Self.string(fields[0])) else {
      throw Problem(
        message: "is not of ARC's format",
        remedy: "write a block, how many, a number that is ignored, and the request's")
    }
    let count = try Self.run(fields[1])
    guard !first.addingReportingOverflow(UInt64(count)).overflow else {
      throw Problem(message: "has blocks beyond 64 bits", remedy: "write smaller numbers")
    }
    return TraceEntry(key: "", count: count, block: first)
  }

  private func block(_ line: Bytes) throws(Problem) -> TraceEntry? {
    guard !line.elementsEqual("*".utf8) else { return nil }
    guard Self.isNumber(line) else {
      throw Problem(message: "is not of LIRS's format", remedy: "write the number of a block, or *")
    }
    return TraceEntry(key: Self.string(line))
  }

  // MARK: - Fields

  private mutating func skip() -> TraceEntry? {
    skipped += 1
    return nil
  }

  private static let reads: Set<String> = ["GET", "HEAD", "GETS", "GET_LEASE", "READ", "R", "1"]
  private static let writes: Set<String> = [
    "set", "add", "replace", "cas", "append", "prepend", "delete", "incr", "decr",
  ]

  private static func isRead(_ name: Bytes, among reads: Set<String>) -> Bool {
    reads.contains(string(name).uppercased())
  }

  private static func fields(_ line: Bytes) -> [Bytes] {
    let line = line.first == UInt8(ascii: "#") ? line.dropFirst() : line
    return line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { field in
      let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
      let begin = field.firstIndex { !isSpace($0) } ?? field.endIndex
      return field[begin..<((field[begin...].lastIndex { !isSpace($0) }.map { $0 + 1 }) ?? begin)]
    }
  }

  private static func isNumber(_ bytes: Bytes) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func string(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func key(_ bytes: Bytes) throws(Problem) -> String {
    guard !bytes.isEmpty else { throw Problem(message: "has no key", remedy: "write one, or leave the line out") }
    guard let key = String(validating: bytes, as: UTF8.self) else {
      throw Problem(message: "is not UTF-8", remedy: "write keys in UTF-8")
    }
    return key
  }

  /// `isRead`: Servers write 0 where a read found nothing.
  private static func size(_ bytes: Bytes, isRead: Bool) throws(Problem) -> String? {
    guard !bytes.isEmpty else { return nil }
    guard isNumber(bytes) else {
      throw Problem(message: "has “\(string(bytes))” for a size", remedy: "write bytes as a number from 0")
    }
    return isRead && bytes.elementsEqual("0".utf8) ? nil : string(bytes)
  }

  private static func run(_ bytes: Bytes) throws(Problem) -> Int {
    guard isNumber(bytes), let count = Int(string(bytes)), (1...longestRun).contains(count) else {
      throw Problem(
        message: "stands for “\(string(bytes))” requests",
        remedy: "write a number from 1 to \(longestRun); split it if need be")
    }
    return count
  }
}

extension TraceLineParser {
  /// Which column is which.
  struct Columns {
    var time: Int?
    var key: Int
    var size: Int?
    var operation: Int?
    var repeats: Int?
    var count: Int

    init(time: Int?, key: Int, size: Int?, count: Int) {
      self.time = time
      self.key = key
      self.size = size
      self.count = count
    }

    /// Two columns must be known, one of them the key's.
    init?(header fields: [Bytes]) {
      let names = fields.map { String(decoding: $0, as: UTF8.self).lowercased() }
      func first(_ known: [String]) -> Int? {
        known.lazy.compactMap { name in names.firstIndex(of: name) }.first
      }
      let keys = [
        "key", "cachekey", "obj_id", "object_id", "object", "obj", "id", "url", "uri", "path", "target", "block_id",
      ]
      guard let key = first(keys) else { return nil }
      size = first(["size", "obj_size", "object_size", "objectsize", "bytes", "value_size", "io_size"])
      operation = first(["op", "optype", "operation", "op_name", "method"])
      repeats = first(["op_count"])
      time = first(["time", "timestamp", "ts", "clock_time", "op_time"])
      guard size != nil || operation != nil || time != nil else { return nil }
      self.key = key
      count = fields.count
    }
  }
}
