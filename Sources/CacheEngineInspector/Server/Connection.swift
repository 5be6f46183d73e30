import CacheEngine

/// Somebody who is attached, or would like to be; the loop's own.
struct Connection {
  enum Phase {
    /// Nothing is known of the other side yet.
    case greeting
    case open
    /// It is told why not, and the connection ends behind that.
    case closing
  }

  /// More is not put behind what the other side has not taken yet.
  static let mostOutgoing = 1 << 20
  /// So many questions of one side are worked on at once.
  static let mostAsks = 8
  /// For so long somebody may be silent before the greeting.
  static let patience = Duration.seconds(5)

  let id: UInt64
  let descriptor: Descriptor
  let since: ContinuousClock.Instant
  var phase = Phase.greeting
  /// It was welcome once, and counts as a listener until it is gone.
  var isAttached = false
  var reader = LineReader()
  /// Lines that came and wait for their turn.
  var waiting: [[UInt8]] = []
  private(set) var outgoing: [UInt8] = []
  private var sent = 0
  /// Where it stands in the ring.
  var place: UInt64 = 0
  /// Dropped, and not told of yet.
  var lost: UInt64 = 0
  var asks: [Int: Task<Void, Never>] = [:]
  var listing: (level: String, entries: [ServerLine.Entry])?
  var usage: [String: ServerLine.Usage] = [:]

  init(id: UInt64, descriptor: Descriptor) {
    self.id = id
    self.descriptor = descriptor
    since = ContinuousClock.now
  }

  var outgoingCount: Int { outgoing.count - sent }
  var isFull: Bool { outgoingCount >= Self.mostOutgoing }
  var wantsToWrite: Bool { outgoingCount > 0 }
  var wantsToRead: Bool { phase != .closing && !isFull && asks.count < Self.mostAsks && waiting.isEmpty }

  mutating func send(_ line: ServerLine) { outgoing += Wire.bytes(line) }

  mutating func send(_ bytes: [UInt8]) { outgoing += bytes }

  /// Says why not; the rest of what came is of no interest.
  mutating func refuse(_ refusal: ServerLine.Refusal) {
    send(ServerLine(refused: refusal))
    phase = .closing
    waiting = []
  }

  /// Writes what can be written.
  ///
  /// - Returns: Whether the other side is still there.
  mutating func flush() -> Bool {
    while outgoingCount > 0 {
      switch descriptor.write(outgoing[sent..<min(outgoing.count, sent + 65_536)]) {
      case .moved(let count): sent += count
      case .later:
        compact()
        return true
      case .ended: return false
      }
    }
    (outgoing, sent) = ([], 0)
    return phase != .closing
  }

  private mutating func compact() {
    guard sent > 1 << 16 else { return }
    outgoing.removeFirst(sent)
    sent = 0
  }
}
