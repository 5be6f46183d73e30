import CacheEngine
package import ExplorerText

/// What listening to a server's commands brought: who reads and writes which keys, and what a memory level in front of
/// each client would have answered.
package struct MonitoredTraffic: Sendable, Equatable, Codable {
  package struct Prefix: Sendable, Equatable, Codable {
    package var name: String
    package var reads = 0
    package var writes = 0
  }

  /// A memory level of so many entries in every client, which forgets what any client writes.
  package struct Front: Sendable, Equatable, Codable {
    package var entries: Int
    /// How many reads it would have answered.
    package var hits: Int
  }

  package var lasted: Duration
  /// It ended sooner than was asked for, since there was so much.
  package var isCut: Bool
  package var commands: Int
  package var reads = 0
  package var writes = 0
  package var keys = 0
  package var clients = 0
  /// The one with most reads and writes first.
  package var prefixes: [Prefix] = []
  package var fronts: [Front] = []

  /// What listening for so long costs the server, to be told before it begins.
  package static func announcement(_ duration: Duration) -> String {
    "listening to every command of the server for \(Quantity.text(duration)): it sends each of them here, and may serve "
      + "half as many meanwhile"
  }

  /// In one sentence.
  package var sentence: String {
    let lasted = Format.behind(nanoseconds: lasted.clampedNanoseconds)
    let cut = isCut ? ", and ended because there was so much" : ""
    let best = fronts.max { $0.hits < $1.hits }
    let advice = best.map { front in
      "; a memory of \(Format.count(front.entries)) entries in each client would have answered "
        + "\(Format.percent(front.hits, of: reads))% of the reads"
    }
    return
      "listened for \(lasted)\(cut): \(Format.counted(commands, "command")), \(Format.counted(reads, "read")) and "
      + "\(Format.counted(writes, "write")) of \(Format.counted(keys, "key")) by \(Format.counted(clients, "client"))"
      + (reads > 0 ? advice ?? "" : "")
  }

  package var json: JSONText {
    .object([
      ("milliseconds", .number(Int(lasted.clampedNanoseconds / 1_000_000))), ("isCut", .flag(isCut)),
      ("commands", .number(commands)), ("reads", .number(reads)), ("writes", .number(writes)),
      ("keys", .number(keys)), ("clients", .number(clients)),
      (
        "memoryInEachClient",
        .array(
          fronts.map { front in
            .object([
              ("entries", .number(front.entries)), ("hits", .number(front.hits)),
              ("hitRate", reads > 0 ? .fraction(Double(front.hits) / Double(reads)) : nil),
            ])
          })
      ),
    ])
  }
}

/// Reads the lines of `MONITOR`, and counts them.
///
/// Only the keys in them are kept, and only until the end.
package struct MonitorReader: Sendable {
  private struct Step {
    var client: Int
    var key: Int
    var isWrite: Bool
  }

  private static let sizes = [100, 1_000, 10_000, 100_000]

  private var keys: [String: Int] = [:]
  private var names: [String] = []
  private var clients: [Substring: Int] = [:]
  private var steps: [Step] = []
  private var commands = 0

  package init() {}

  /// Takes a line, as `1700000000.123456 [0 127.0.0.1:5000] "GET" "key"`; of another database it is left out.
  package mutating func take(_ line: String, database: Int) {
    // The address of a client may have brackets of its own, as `[::1]:5000`.
    guard let open = line.firstIndex(of: "["), let close = line[open...].firstRange(of: "] \"")?.lowerBound else {
      return
    }
    let source = line[line.index(after: open)..<close].split(separator: " ", maxSplits: 1)
    guard source.count == 2, source[0] == String(database) else { return }
    commands += 1
    let words = Self.words(of: line[line.index(after: close)...])
    guard let name = words.first?.uppercased(), let use = Self.uses[name] else { return }
    let client = clients[source[1]] ?? clients.count
    clients[source[1]] = client
    let arguments = words.dropFirst()
    let touched: [String] =
      switch use.keys {
      case .first: arguments.prefix(1).map(\.self)
      case .all: Array(arguments)
      case .pairs: arguments.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
      }
    for key in touched where use.isWrite || !Self.isStamp(key) {
      let number = keys[key] ?? names.count
      if number == names.count {
        keys[key] = number
        names.append(key)
      }
      steps.append(Step(client: client, key: number, isWrite: use.isWrite))
    }
  }

  /// Whether a name is a stamp of a namespace of this library, which each look-up there asks for, and no user's key: it is
  /// `photos:s:` or `photos:g:`, and in a cluster `{photos}:s:`.
  private static func isStamp(_ name: String) -> Bool {
    (name.hasSuffix(":s:") || name.hasSuffix(":g:")) && name.utf8.count { $0 == UInt8(ascii: ":") } == 2
      && name.utf8.count > 3
  }

  /// What it comes to.
  package func traffic(lasted: Duration, isCut: Bool) -> MonitoredTraffic {
    var traffic = MonitoredTraffic(lasted: lasted, isCut: isCut, commands: commands)
    traffic.reads = steps.count { !$0.isWrite }
    traffic.writes = steps.count - traffic.reads
    (traffic.keys, traffic.clients) = (names.count, clients.count)
    var prefixes: [String: MonitoredTraffic.Prefix] = [:]
    let prefixOfKey = names.map(KeyspaceSheet.prefix)
    for step in steps {
      let name = prefixOfKey[step.key]
      var prefix = prefixes[name] ?? MonitoredTraffic.Prefix(name: name)
      if step.isWrite { prefix.writes += 1 } else { prefix.reads += 1 }
      prefixes[name] = prefix
    }
    traffic.prefixes = prefixes.values.sorted { ($1.reads + $1.writes, $0.name) < ($0.reads + $0.writes, $1.name) }
    traffic.fronts = Self.sizes.map { MonitoredTraffic.Front(entries: $0, hits: hits(entries: $0)) }
    // A size that holds everything tells what a larger one would.
    while let last = traffic.fronts.last, traffic.fronts.count > 1, last.hits == traffic.fronts.dropLast().last?.hits {
      traffic.fronts.removeLast()
    }
    return traffic
  }

  private func hits(entries: Int) -> Int {
    var memories = Array(repeating: RecentKeys(capacity: entries), count: clients.count)
    // Who may hold a key: where each request has a connection of its own, there are too many clients to ask all at each write.
    var holders = Array(repeating: [Int](), count: names.count)
    var hits = 0
    for step in steps {
      if step.isWrite {
        for client in holders[step.key] { memories[client].forget(step.key) }
        holders[step.key] = []
      }
      let isHeld = memories[step.client].touch(step.key)
      if !isHeld { holders[step.key].append(step.client) }
      if isHeld { hits += 1 }
    }
    return hits
  }

  /// The words of a command, each in quotes, with what is not printable escaped; they stay so.
  private static func words(of text: Substring) -> [String] {
    var words: [String] = []
    var rest = text.utf8[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "\"")) {
      var word: [UInt8] = []
      var place = rest.index(after: open)
      while place < rest.endIndex, rest[place] != UInt8(ascii: "\"") {
        if rest[place] == UInt8(ascii: "\\"), rest.index(after: place) < rest.endIndex {
          word.append(rest[place])
          place = rest.index(after: place)
        }
        word.append(rest[place])
        place = rest.index(after: place)
      }
      words.append(String(decoding: word, as: UTF8.self))
      guard place < rest.endIndex else { break }
      rest = rest[rest.index(after: place)...]
    }
    return words
  }

  private enum Keys { case first, all, pairs }

  /// What the commands that concern single keys do.
  private static let uses: [String: (isWrite: Bool, keys: Keys)] = {
    var uses: [String: (isWrite: Bool, keys: Keys)] = [:]
    for name in [
      "GET", "GETRANGE", "SUBSTR", "STRLEN", "HGET", "HGETALL", "HMGET", "HEXISTS", "HKEYS", "HVALS", "HLEN", "LRANGE",
      "LINDEX", "LLEN", "SMEMBERS", "SISMEMBER", "SMISMEMBER", "SCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE",
      "ZSCORE", "ZRANK", "ZCARD", "XRANGE", "BITCOUNT", "GETBIT", "JSON.GET",
    ] { uses[name] = (false, .first) }
    for name in [
      "SET", "SETEX", "PSETEX", "SETNX", "SETRANGE", "GETSET", "GETDEL", "GETEX", "APPEND", "INCR", "INCRBY",
      "INCRBYFLOAT", "DECR", "DECRBY", "HSET", "HSETNX", "HMSET", "HDEL", "HINCRBY", "LPUSH", "RPUSH", "LPOP", "RPOP",
      "LSET", "LTRIM", "LREM", "SADD", "SREM", "SPOP", "ZADD", "ZREM", "ZINCRBY", "XADD", "SETBIT", "RENAME", "RESTORE",
      "JSON.SET",
    ] { uses[name] = (true, .first) }
    (uses["MGET"], uses["EXISTS"]) = ((false, .all), (false, .all))
    (uses["DEL"], uses["UNLINK"]) = ((true, .all), (true, .all))
    (uses["MSET"], uses["MSETNX"]) = ((true, .pairs), (true, .pairs))
    return uses
  }()
}

/// The keys that were used last, so many of them.
private struct RecentKeys {
  let capacity: Int
  private var uses: [Int: Int] = [:]
  /// In the order of use; what was used again since is skipped.
  private var order: [(key: Int, use: Int)] = []
  private var oldest = 0
  private var use = 0

  init(capacity: Int) { self.capacity = capacity }

  /// - Returns: Whether it was there.
  mutating func touch(_ key: Int) -> Bool {
    use += 1
    let wasThere = uses.updateValue(use, forKey: key) != nil
    order.append((key, use))
    while uses.count > capacity {
      let (key, use) = order[oldest]
      oldest += 1
      if uses[key] == use { uses[key] = nil }
    }
    return wasThere
  }

  mutating func forget(_ key: Int) { uses[key] = nil }
}
