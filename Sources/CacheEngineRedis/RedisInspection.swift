#if Redis
import CacheEngine
import Synchronization

/// A look at a running server that changes nothing in it.
///
/// Every question is bounded: keys come by `SCAN`, so many at once, and what is asked of them goes in one line after the other.
package final class RedisInspection: Sendable {
  /// A key, as the server describes it.
  package struct Key: Sendable {
    package var name: [UInt8]
    /// What it takes with its value; `nil` if the server does not say.
    package var bytes: Int?
    /// Until it expires; `nil` for never.
    package var left: Duration?
  }

  /// What the server counts of looking at it.
  package struct Own: Sendable {
    package var commands = 0
    package var hits = 0
    package var misses = 0
  }

  /// So many keys are asked about in one go: some hundreds of microseconds of the server's time.
  private static let page = 200

  /// The most bytes that a key is said to take: whatever a server says, sums over a hundred thousand keys do not overflow.
  package static let mostBytes = Int(clamping: Int64(1) << 44)

  package let settings: RedisSettings
  private let connection: Mutex<RedisConnection?> = Mutex(nil)
  private let asked = Mutex(Own())

  package init(_ settings: RedisSettings) {
    var settings = settings
    settings.largestReply = 64 << 20
    self.settings = settings
  }

  deinit { close() }

  package func close() {
    connection.withLock { $0.take() }?.close(
      CacheError(.closed, "the server is not looked at any more", level: settings.name))
  }

  /// The connection, made again if it was lost.
  private func connected() async throws -> RedisConnection {
    if let connection = connection.withLock({ $0 }), connection.end == nil { return connection }
    let made = try await open(for: .commands) { _ in }
    let old = connection.withLock { connection in
      defer { connection = made }
      return connection
    }
    old?.close(CacheError(.closed, "another connection took its place", level: settings.name))
    return made
  }

  private func open(
    for use: RedisConnection.Use, onPush: @escaping @Sendable ([RESPValue]) -> Void,
    onEnd: @escaping @Sendable () -> Void = {}
  ) async throws -> RedisConnection {
    let isKnown = connection.withLock { $0 != nil }
    let connection = try await RedisConnection.connect(settings, for: use, onPush: onPush) { _, _ in onEnd() }
    do { _ = try await connection.greet(isKnown: isKnown) } catch {
      connection.close(CacheError(.closed, "it was not let in", level: settings.name))
      throw error
    }
    return connection
  }

  /// What a server that is the same since has counted of this.
  package var own: Own { asked.withLock { $0 } }

  /// Another server has counted nothing of it.
  package func forgetOwn() { asked.withLock { $0 = Own() } }

  private func ask(_ commands: [[[UInt8]]]) async throws -> [RESPValue] {
    let connection = try await connected()
    asked.withLock { $0.commands += commands.count }
    return try await connection.ask(commands)
  }

  private func ask(_ words: String...) async throws -> RESPValue {
    let reply = try await ask([words.map { Array($0.utf8) }])[0]
    if case .error(let text) = reply { throw RedisRefusal.error(text, settings) }
    return reply
  }

  /// What the server says of itself (`INFO`), by field.
  ///
  /// - Throws: `CacheError`: it cannot be reached, it refuses, or it is no Redis server.
  package func facts() async throws -> [String: String] {
    guard let text = try await ask("INFO").string else {
      throw CacheError(.invalidResponse, "the server’s reply to INFO is of another kind than Redis gives")
    }
    var facts: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
    }
    guard facts["redis_version"] != nil else {
      throw CacheError(.invalidResponse, "what answers at \(settings.place) is no Redis server", level: settings.name)
    }
    return facts
  }

  /// How many keys the database has.
  package func count() async throws -> Int {
    guard case .number(let count) = try await ask("DBSIZE") else {
      throw CacheError(.invalidResponse, "the server’s reply to DBSIZE is of another kind than Redis gives")
    }
    return Int(count)
  }

  /// Asks for keys until there are no more, or enough.
  ///
  /// - Parameters:
  ///   - most: How many at most.
  ///   - limit: How long at most.
  /// - Returns: The keys, each once, and whether these are all.
  /// - Throws: As ``facts()``.
  package func keys(atMost most: Int, within limit: Duration) async throws -> (keys: [Key], isAll: Bool) {
    let end = ContinuousClock.now + limit
    var keys: [Key] = []
    var seen: Set<[UInt8]> = []
    var cursor = "0"
    repeat {
      guard case .array(let parts) = try await ask("SCAN", cursor, "COUNT", String(Self.page)), parts.count == 2,
        let next = parts[0].string, case .array(let names) = parts[1]
      else { throw CacheError(.invalidResponse, "the server’s reply to SCAN is of another kind than Redis gives") }
      cursor = next
      // A key may come twice while the table grows.
      let new = names.compactMap { name -> [UInt8]? in
        guard case .bytes(let bytes) = name, seen.insert(bytes).inserted else { return nil }
        return bytes
      }
      keys += try await described(Array(new.prefix(most - keys.count)))
    } while cursor != "0" && keys.count < most && ContinuousClock.now < end
    return (keys, cursor == "0" && keys.count == seen.count)
  }

  /// What the server says of keys; those that are gone by now are left out.
  private func described(_ names: [[UInt8]]) async throws -> [Key] {
    guard !names.isEmpty else { return [] }
    let (memory, usage, left) = (Array("MEMORY".utf8), Array("USAGE".utf8), Array("PTTL".utf8))
    let replies = try await ask(names.flatMap { [[left, $0], [memory, usage, $0]] })
    return names.enumerated().compactMap { place, name in
      var key = Key(name: name)
      if case .number(let bytes) = replies[place * 2 + 1] {
        key.bytes = min(max(0, Int(clamping: bytes)), Self.mostBytes)
      }
      guard case .number(let milliseconds) = replies[place * 2] else { return key }
      asked.withLock { if milliseconds == -2 { $0.misses += 1 } else { $0.hits += 1 } }
      if milliseconds == -2 { return nil }
      if milliseconds >= 0 { key.left = .milliseconds(min(milliseconds, 1 << 48)) }
      return key
    }
  }

  /// The beginning of a value, and how many bytes it has; `nil` if there is no such key.
  ///
  /// For the server this is a use of the key.
  ///
  /// - Throws: `CacheError` with the server's words for what is no string.
  package func beginning(of name: [UInt8], atMost count: Int) async throws -> (bytes: [UInt8], of: Int)? {
    let replies = try await ask([
      [Array("STRLEN".utf8), name], [Array("GETRANGE".utf8), name, Array("0".utf8), Array(String(count - 1).utf8)],
      [Array("EXISTS".utf8), name],
    ])
    if case .number(let found) = replies[2] {
      asked.withLock { if found == 1 { $0.hits += replies.count } else { $0.misses += replies.count } }
    }
    for reply in replies {
      if case .error(let text) = reply { throw RedisRefusal.error(text, settings) }
    }
    guard case .number(1) = replies[2], case .number(let length) = replies[0], case .bytes(let bytes) = replies[1]
    else {
      return nil
    }
    return (bytes, Int(clamping: length))
  }

  /// Listens to every command that the server is given (`MONITOR`), which costs the server much of its speed.
  ///
  /// - Parameters:
  ///   - limit: For how long.
  ///   - most: After how many commands it ends sooner.
  ///   - note: Told of each command, as the server writes it.
  /// - Returns: How long it listened, and how many commands there were.
  /// - Throws: As ``facts()``; `CancellationError`.
  package func monitor(
    for limit: Duration, atMost most: Int, note: @escaping @Sendable (String) -> Void
  ) async throws -> (lasted: Duration, commands: Int) {
    let count = Mutex(0)
    let (enough, enoughSaid) = AsyncStream<Void>.makeStream()
    let connection = try await open(for: .monitor) { values in
      guard case .text(let text)? = values.first else { return }
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number <= most { note(text) }
      if number == most { enoughSaid.finish() }
    } onEnd: {
      enoughSaid.finish()
    }
    // The server tells nobody any more once the connection is gone, however this ends.
    defer { connection.close(CacheError(.closed, "the server’s commands are not listened to any more")) }
    if case .error(let text) = try await connection.ask([[Array("MONITOR".utf8)]])[0] {
      throw RedisRefusal.error(text, settings)
    }
    let began = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await ContinuousClock().sleep(for: limit) }
      group.addTask { for await _ in enough {} }
      defer { group.cancelAll() }
      try await group.next()
    }
    if let end = connection.end { throw end }
    return (ContinuousClock.now - began, min(most, count.withLock { $0 }))
  }
}
#endif
