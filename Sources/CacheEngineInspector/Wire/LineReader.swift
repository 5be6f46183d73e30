/// Cuts what comes over a connection into lines, and never holds more than the longest that is allowed.
package struct LineReader: Sendable {
  /// What came is no line of this protocol.
  package struct TooLong: Error {
    package let limit: Int
  }

  private var held: [UInt8] = []
  /// Up to here there is no end of a line.
  private var searched = 0

  package init() {}

  /// How many bytes wait for the end of their line.
  package var pending: Int { held.count }

  /// Takes what came.
  ///
  /// - Returns: The lines that are whole now, without their ends.
  package mutating func take(_ bytes: ArraySlice<UInt8>, limit: Int) throws(TooLong) -> [[UInt8]] {
    held += bytes
    var lines: [[UInt8]] = []
    var begin = 0
    while let end = held[searched...].firstIndex(of: 0x0a) {
      guard end - begin <= limit else { throw TooLong(limit: limit) }
      if end > begin { lines.append(Array(held[begin..<end])) }
      begin = end + 1
      searched = begin
    }
    held.removeFirst(begin)
    searched = held.count
    guard held.count <= limit else { throw TooLong(limit: limit) }
    return lines
  }
}
