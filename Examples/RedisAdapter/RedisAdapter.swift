// How an app shares entries through a Redis client that it already has, instead of CacheEngineRedis: conform the client to
// RedisCommands, and pass an AdaptedRedis to SharedCacheLevel.
//
//     extension MyClient: RedisCommands { … }
//     let shared = try SharedCacheLevel<String, Data>(AdaptedRedis(client), namespace: "photos", valueCoding: .data)
//
// It hears of no changes: limit the lifetime of the copies above, `memory.expiring(after: .seconds(5))`, or conform the type to
// InvalidationBus if the client supports CLIENT TRACKING. The processes that share a namespace may use different clients, as long as
// those that listen set RedisSettings.invalidations to .tracking: this one publishes nothing.

import CacheEngine
public import CacheEngineShared

/// What a client has to do: send any command, and return the reply to that command and to no other.
public protocol RedisCommands: Sendable {
  /// Sends a command.
  ///
  /// - Parameter words: The command and its arguments, any bytes.
  /// - Returns: The reply.
  /// - Throws: An error if there is no reply within the client's own time limit.
  func send(_ words: [[UInt8]]) async throws -> RedisReply
}

/// A reply of the server, with the distinctions that the adapter needs.
public enum RedisReply: Sendable, Equatable {
  /// Nothing.
  case none
  /// Text or other bytes.
  case bytes([UInt8])
  /// A number.
  case number(Int64)
  /// Several replies.
  case array([RedisReply])
  /// A refusal, in the words of the server.
  case error(String)
}

/// A Redis server as a shared store, through the client that an app has.
public struct AdaptedRedis<Client: RedisCommands>: SharedStore {
  /// The name of the store in errors.
  public let name: String
  private let client: Client

  /// Adapts a client.
  ///
  /// - Parameters:
  ///   - client: The client, which connects by itself.
  ///   - name: The name of the store in errors.
  public init(_ client: Client, name: String = "redis") {
    self.client = client
    self.name = name
  }

  /// The server's time of day.
  public func timeSinceEpoch() async throws -> Duration {
    guard case .array(let parts) = try await ask(["TIME"]), parts.count == 2, let seconds = integer(parts[0]),
      let microseconds = integer(parts[1])
    else { throw strange("TIME") }
    return .seconds(seconds) + .microseconds(microseconds)
  }

  /// The bytes under names, by one MGET.
  public func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] {
    if names.isEmpty { return [] }
    guard case .array(let replies) = try await ask(["MGET"], names), replies.count == names.count else {
      throw strange("MGET")
    }
    return try replies.map { try bytes($0, "MGET") }
  }

  /// Makes changes if all conditions hold, atomically, by one script.
  public func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    // A letter for each step; each takes the next name, and as many arguments as it needs.
    var (steps, keys, arguments) = ("", [[UInt8]](), [[UInt8]]())
    func step(_ letter: String, _ name: [UInt8], _ more: [UInt8]...) {
      steps += letter
      keys.append(name)
      arguments += more
    }
    for condition in conditions {
      switch condition {
      case .absent(let name): step("a", name)
      case .begins(let name, let start): step("b", name, start)
      }
    }
    for change in changes {
      switch change {
      case .set(let name, let bytes, let lifetime): step("s", name, bytes, milliseconds(lifetime))
      case .make(let name, let bytes, let lifetime): step("m", name, bytes, milliseconds(lifetime))
      case .remove(let name): step("d", name)
      }
    }
    for name in names { step("r", name) }
    let reply = try await ask(["EVAL", Self.script, String(keys.count)], keys + [Array(steps.utf8)] + arguments)
    if reply == .none { return nil }
    guard case .array(let replies) = reply, replies.count == names.count else { throw strange("EVAL") }
    return try replies.map { try bytes($0, "EVAL") }
  }

  private static var script: String {
    """
    local place, read = 1, {}
    local function argument() place = place + 1 return ARGV[place] end
    for number = 1, #KEYS do
      local step, name = string.sub(ARGV[1], number, number), KEYS[number]
      if step == 'a' then
        if redis.call('STRLEN', name) > 0 then return false end
      elseif step == 'b' then
        local start = argument()
        if redis.call('GETRANGE', name, 0, #start - 1) ~= start then return false end
      elseif step == 'd' then redis.call('DEL', name)
      elseif step == 'r' then read[#read + 1] = redis.call('GET', name)
      else
        local command = {'SET', name, argument()}
        local life = argument()
        if life ~= '' then command[4], command[5] = 'PX', life end
        if step == 'm' then command[#command + 1] = 'NX' end
        redis.call(unpack(command))
      end
    end
    return read
    """
  }

  /// Rounded up, since an entry expires by its own deadline, and at least one; empty for no limit.
  private func milliseconds(_ lifetime: Duration?) -> [UInt8] {
    guard let lifetime else { return [] }
    let most = Duration.seconds(100 * 365 * 86_400)
    return Array(String(max(1, Int64((min(lifetime, most) / .milliseconds(1)).rounded(.up)))).utf8)
  }

  private func ask(_ words: [String], _ more: [[UInt8]] = []) async throws -> RedisReply {
    let reply = try await client.send(words.map { Array($0.utf8) } + more)
    if case .error(let text) = reply { throw CacheError(.invalidResponse, "the server refused: \(text)", level: name) }
    return reply
  }

  private func bytes(_ reply: RedisReply, _ command: String) throws -> [UInt8]? {
    switch reply {
    case .none: return nil
    case .bytes(let bytes): return bytes
    default: throw strange(command)
    }
  }

  private func integer(_ reply: RedisReply) -> Int64? {
    switch reply {
    case .number(let number): number
    case .bytes(let bytes): Int64(String(decoding: bytes, as: UTF8.self))
    default: nil
    }
  }

  private func strange(_ command: String) -> CacheError {
    CacheError(.invalidResponse, "the server's reply to \(command) is of another kind than Redis gives", level: name)
  }
}
