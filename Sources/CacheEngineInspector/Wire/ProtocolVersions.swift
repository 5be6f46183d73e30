/// Which versions of the protocol somebody speaks, and which one two speak with each other.
///
/// A version is a whole number. Within one, fields and words may be added: a program that does not know them ignores them.
package struct ProtocolVersions: Sendable, Equatable, Codable {
  package var oldest: Int
  package var newest: Int

  package init(_ oldest: Int, _ newest: Int) {
    self.oldest = oldest
    self.newest = newest
  }

  /// What this library speaks.
  package static let current = ProtocolVersions(1, 1)

  /// The newest version that both speak; `nil` if there is none.
  package func shared(with other: ProtocolVersions) -> Int? {
    let newest = min(newest, other.newest)
    return newest >= max(oldest, other.oldest) ? newest : nil
  }

  package var text: String { oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)" }

  /// As the wire has it: `[oldest, newest]`.
  package init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    (oldest, newest) = (try values.decode(Int.self), try values.decode(Int.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(oldest)
    try values.encode(newest)
  }
}
