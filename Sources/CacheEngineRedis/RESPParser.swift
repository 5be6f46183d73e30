#if Redis
/// Cuts a stream of bytes into replies.
///
/// A reply is first walked through, and each byte once however it arrives; only when it is whole a value is made of it. What
/// is not of the protocol, or beyond a limit, ends it: nothing that follows could be trusted.
package struct RESPParser: Sendable {
  /// What a server may send.
  package struct Limits: Sendable, Equatable {
    /// The most bytes of one reply.
    package var bytes = 512 << 20
    /// The most values within each other.
    package var depth = 16

    package init(bytes: Int = 512 << 20, depth: Int = 16) {
      // Places in the buffer are calculated with it.
      self.bytes = min(bytes, .max / 4)
      self.depth = depth
    }
  }

  /// Why bytes are no reply.
  package struct Malformed: Error, Equatable {
    package let message: String
  }

  private let limits: Limits
  private var buffer: [UInt8] = []
  /// Where the reply begins that is walked through, and how far that has come.
  private var start = 0
  private var position = 0
  /// How many bytes from there on were looked through, and are no end of a line.
  private var lookedThrough = 0
  /// How many values are missing yet, of each that contains others.
  private var missing: [Int] = []

  package init(limits: Limits = Limits()) { self.limits = limits }

  /// Takes in bytes.
  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.count < 1 << 20)
      (start, position) = (0, 0)
    } else if start > 1 << 16, start > buffer.count / 2 {
      buffer.removeFirst(start)
      position -= start
      start = 0
    }
    buffer += bytes
  }

  /// The next whole reply, or `nil` if it has not arrived yet.
  ///
  /// - Throws: ``Malformed``.
  package mutating func next() throws -> RESPValue? {
    while true {
      guard let end = try walk() else {
        if buffer.count - start > limits.bytes { throw tooLong }
        return nil
      }
      (position, lookedThrough) = (end, 0)
      guard missing.isEmpty else { continue }
      if position - start > limits.bytes { throw tooLong }
      var reader = start
      start = position
      return try value(&reader)
    }
  }

  private var tooLong: Malformed { Malformed(message: "a reply has more than \(limits.bytes) bytes") }

  /// Walks over one value that contains no others, or the head of one that does; `nil` if it is not whole.
  private mutating func walk() throws -> Int? {
    if position < buffer.count, !"+-:,#_($=!*~>%".utf8.contains(buffer[position]) {
      throw Malformed(message: "a reply begins with the byte \(buffer[position])")
    }
    guard let (kind, line, next) = try self.line(at: position, past: lookedThrough) else {
      // The last one may be half of an end.
      lookedThrough = max(buffer.count - position - 1, 0)
      return nil
    }
    var end = next
    switch kind {
    case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
      let length = try number(line)
      if length >= 0 {
        guard length <= limits.bytes else { throw tooLong }
        end += length + 2
        guard end <= buffer.count else { return nil }
        guard buffer[end - 2] == 13, buffer[end - 1] == 10 else {
          throw Malformed(message: "a string does not end where it says")
        }
      } else if length != -1 {
        throw Malformed(message: "a string has a negative length")
      }
    case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: ">"), UInt8(ascii: "%"):
      let count = try number(line)
      guard count >= -1, count <= limits.bytes / 3 else {
        throw Malformed(message: "a list of \(count) values")
      }
      if count > 0 {
        guard missing.count < limits.depth else {
          throw Malformed(message: "more than \(limits.depth) values within each other")
        }
        missing.append(kind == UInt8(ascii: "%") ? 2 * count : count)
        return end
      }
    default: break  // a line is all of it
    }
    // One is there: perhaps the last one of those that contain it.
    while let last = missing.popLast() {
      if last > 1 {
        missing.append(last - 1)
        break
      }
    }
    return end
  }

  /// The first byte and the rest of a line, and where the next one begins.
  private func line(
    at place: Int, past lookedThrough: Int = 0
  ) throws -> (kind: UInt8, rest: ArraySlice<UInt8>, next: Int)? {
    guard let end = buffer[(place + lookedThrough)...].firstIndex(of: 13) else {
      // No number and no error is a line this long.
      if buffer.count - place > 1 << 16 { throw Malformed(message: "a line has no end") }
      return nil
    }
    guard end + 1 < buffer.count else { return nil }
    guard buffer[end + 1] == 10, end > place else { throw Malformed(message: "a line does not end properly") }
    return (buffer[place], buffer[(place + 1)..<end], end + 2)
  }

  private func number(_ line: ArraySlice<UInt8>) throws -> Int {
    guard let text = String(validating: line, as: UTF8.self), let number = Int(text) else {
      throw Malformed(message: "a length is no number")
    }
    return number
  }

  /// Makes a value of what was walked through.
  private func value(_ place: inout Int) throws -> RESPValue {
    guard let (kind, line, next) = try line(at: place) else { throw Malformed(message: "a reply ends too soon") }
    place = next
    func text() -> String { String(decoding: line, as: UTF8.self) }
    func bytes() throws -> [UInt8]? {
      let length = try number(line)
      if length < 0 { return nil }
      defer { place += length + 2 }
      return Array(buffer[place..<place + length])
    }
    func values(_ count: Int) throws -> [RESPValue] {
      var values: [RESPValue] = []
      values.reserveCapacity(min(max(count, 0), 1_024))
      for _ in 0..<max(count, 0) { values.append(try value(&place)) }
      return values
    }
    switch kind {
    case UInt8(ascii: "+"): return .text(text())
    case UInt8(ascii: "-"): return .error(text())
    case UInt8(ascii: "!"): return .error(String(decoding: try bytes() ?? [], as: UTF8.self))
    case UInt8(ascii: ":"):
      guard let number = Int64(text()) else { throw Malformed(message: "a number is invalid") }
      return .number(number)
    case UInt8(ascii: "("): return .text(text())
    case UInt8(ascii: ","):
      guard let number = Double(text()) else { throw Malformed(message: "a number is invalid") }
      return .double(number)
    case UInt8(ascii: "#"):
      guard text() == "t" || text() == "f" else { throw Malformed(message: "a Boolean is invalid") }
      return .boolean(text() == "t")
    case UInt8(ascii: "_"): return .null
    case UInt8(ascii: "$"): return try bytes().map(RESPValue.bytes) ?? .null
    case UInt8(ascii: "="): return try bytes().map { .bytes(Array($0.dropFirst(4))) } ?? .null
    case UInt8(ascii: "%"):
      let all = try values(2 * (try number(line)))
      return .map(stride(from: 0, to: all.count, by: 2).map { (key: all[$0], value: all[$0 + 1]) })
    case UInt8(ascii: ">"): return .push(try values(try number(line)))
    default:
      let count = try number(line)
      return count < 0 ? .null : .array(try values(count))
    }
  }
}
#endif
