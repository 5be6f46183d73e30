#if Redis
import CacheEngine

/// Where a server of a cluster is.
struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
  var host: String
  var port: Int

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads `10.0.0.1:7000`, or `:7000` for the host that says so; `nil` if it is neither.
  init?(_ text: some StringProtocol, saidBy host: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port)
    else { return nil }
    let name = text[..<colon]
    self.init(host: name.isEmpty || name == "?" ? host : String(name), port: port)
  }
}

/// The slots that names of a cluster fall into.
enum RedisSlot {
  static let count = 16_384

  /// The slot of a name: of what stands in its first braces, if that is something.
  static func of(_ name: [UInt8]) -> Int {
    var hashed = name[...]
    if let open = name.firstIndex(of: 0x7b), let close = name[(open + 1)...].firstIndex(of: 0x7d), close > open + 1 {
      hashed = name[(open + 1)..<close]
    }
    return Int(checksum(hashed)) % count
  }

  /// CRC-16/XMODEM, as the specification of Redis Cluster has it (https://redis.io/docs/reference/cluster-spec).
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { $0 << 8 ^ table[Int(UInt8(truncatingIfNeeded: $0 >> 8) ^ $1)] }
  }

  private static let table: [UInt16] = (0..<256).map { number in
    (0..<8).reduce(UInt16(number) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}

/// Who has which slots, put together from what several servers say.
///
/// Servers learn of a change one after the other. Of two that are said to have a slot, the one that took it later counts: it has
/// the higher epoch.
struct RedisTopology: Sendable, Equatable {
  struct Claim: Sendable, Equatable {
    var owner: RedisAddress
    var epoch: UInt64
  }

  /// What one server says.
  struct View: Sendable, Equatable {
    var claims: [(slots: ClosedRange<Int>, claim: Claim)] = []
    /// Primaries without slots.
    var spares: Set<RedisAddress> = []

    static func == (left: View, right: View) -> Bool {
      left.spares == right.spares
        && left.claims.elementsEqual(right.claims) { $0.slots == $1.slots && $0.claim == $1.claim }
    }

    /// Reads the reply to `CLUSTER NODES`; `nil` if it is not one.
    ///
    /// - Parameters:
    ///   - text: A line for each server: its number, where it is, what it is, its primary, two times, its epoch, the state of
    ///     the link, and its slots.
    ///   - host: Where the server is that says so, which may not know its own name.
    ///   - byName: Whether a server that tells its name is called by that, for certificates are made out to names.
    init?(_ text: String, saidBy host: String, byName: Bool) {
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count >= 8, let epoch = UInt64(words[6]) else { return nil }
        let flags = words[2].split(separator: ",")
        guard flags.contains("master"), !flags.contains("noaddr"), !flags.contains("handshake") else { continue }
        let places = words[1].split(separator: ",", omittingEmptySubsequences: false)
        guard let at = places.first?.split(separator: "@").first, var address = RedisAddress(at, saidBy: host) else {
          return nil
        }
        if byName, places.count > 1, !places[1].isEmpty { address.host = String(places[1]) }
        var hasSlots = false
        for word in words.dropFirst(8) where !word.hasPrefix("[") {
          let ends = word.split(separator: "-").compactMap { Int($0) }
          guard let first = ends.first, let last = ends.last, first <= last, first >= 0, last < RedisSlot.count else {
            return nil
          }
          claims.append((first...last, Claim(owner: address, epoch: epoch)))
          hasSlots = true
        }
        if !hasSlots, !flags.contains("fail"), !flags.contains("fail?") { spares.insert(address) }
      }
      if claims.isEmpty, spares.isEmpty { return nil }
    }
  }

  private var claims = [Claim?](repeating: nil, count: RedisSlot.count)
  private var owners: Set<RedisAddress> = []
  /// Primaries without slots, which may be about to get some.
  private var spares: Set<RedisAddress> = []

  /// All that may be written to, and so must be listened to.
  var primaries: Set<RedisAddress> { owners.union(spares) }

  /// Those with slots, in the order of the first ones.
  var inOrder: [RedisAddress] {
    var all: [RedisAddress] = []
    for claim in claims { if let owner = claim?.owner, all.last != owner, !all.contains(owner) { all.append(owner) } }
    return all
  }

  subscript(slot: Int) -> RedisAddress? { claims[slot]?.owner }

  /// Takes in what a server says.
  mutating func learn(_ view: View) {
    for (slots, claim) in view.claims {
      for slot in slots where claims[slot].map({ $0.epoch <= claim.epoch }) ?? true { claims[slot] = claim }
    }
    countOwners()
    // A server that says it has slots, and has none, has lost them and does not know it yet.
    spares.formUnion(view.spares)
  }

  /// Drops the primaries without slots of which nobody spoke.
  mutating func keep(spares: Set<RedisAddress>) { self.spares.formIntersection(spares) }

  /// Takes in where a server has sent somebody.
  mutating func move(_ slot: Int, to owner: RedisAddress) {
    claims[slot] = Claim(owner: owner, epoch: claims[slot]?.epoch ?? 0)
    countOwners()
  }

  /// Takes in that names may be written somewhere.
  mutating func add(_ address: RedisAddress) { spares.insert(address) }

  private mutating func countOwners() {
    owners = []
    var last: RedisAddress?
    for claim in claims {
      guard let owner = claim?.owner, owner != last else { continue }
      owners.insert(owner)
      last = owner
    }
  }
}
#endif
