import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value that was too large for one line.
struct KeptValue {
  /// The question that was answered with its beginning.
  var ask: Int
  var bytes: Data
  /// When a piece of it was last given.
  var since: ContinuousClock.Instant
}

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
  /// What is still to be taken of what there was at a moment; `nil` if nothing is.
  private var overdue: (count: Int, since: ContinuousClock.Instant)?
  /// Where it stands in the ring.
  var place: UInt64 = 0
  /// Dropped, and not told of yet.
  var lost: UInt64 = 0
  /// What it was told of the counts.
  var counted = CacheStatistics.Snapshot()
  var asks: [Int: Task<Void, Never>] = [:]
  var listing: (level: String, entries: [ServerLine.Entry])?
  var usage: [String: ServerLine.Usage] = [:]
  var hearing: ServerLine.Hearing?
  /// Values that are given piece by piece, the oldest first.
  private(set) var kept: [KeptValue] = []

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

  /// Keeps a value whose beginning was given.
  mutating func keep(_ bytes: Data, for ask: Int, at now: ContinuousClock.Instant) {
    kept.append(KeptValue(ask: ask, bytes: bytes, since: now))
    if kept.count > WireLimits.mostKept { kept.removeFirst() }
  }

  /// The next piece of a value that was kept; the last one releases it.
  mutating func piece(_ ask: ClientLine.Ask, at now: ContinuousClock.Instant) -> ServerLine.Answer {
    guard let from = ask.from, let place = kept.firstIndex(where: { $0.ask == ask.of }),
      (1..<kept[place].bytes.count).contains(from)
    else { return .failed(ask.id, "there is no value to go on with; ask for it again") }
    var answer = ServerLine.Answer(id: ask.id, outcome: "hit")
    let rest = kept[place].bytes.dropFirst(from)
    answer.value = rest.prefix(WireLimits.piece(ask.limit))
    kept[place].since = now
    if let count = answer.value?.count, count < rest.count {
      answer.next = from + count
    } else {
      kept.remove(at: place)
    }
    return answer
  }

  /// Releases values that nobody has asked for in so long.
  mutating func forget(after patience: Duration, at now: ContinuousClock.Instant) {
    guard !kept.isEmpty else { return }
    kept.removeAll { $0.since.duration(to: now) > patience }
  }

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
      case .moved(let count):
        sent += count
        if let (rest, since) = overdue { overdue = rest > count ? (rest - count, since) : nil }
      case .later:
        compact()
        if overdue == nil { overdue = (outgoingCount, ContinuousClock.now) }
        return true
      case .ended: return false
      }
    }
    (outgoing, sent, overdue) = ([], 0, nil)
    return phase != .closing
  }

  /// Whether the other side has left something lying for so long, however little it takes meanwhile.
  func isStuck(for patience: Duration, at now: ContinuousClock.Instant) -> Bool {
    overdue.map { $0.since.duration(to: now) > patience } ?? false
  }

  private mutating func compact() {
    guard sent > 1 << 16 else { return }
    outgoing.removeFirst(sent)
    sent = 0
  }
}
