#if Redis
import CacheEngine
import CacheEngineShared

/// Changes on conditions, in one moment, as a script of the server.
///
/// The first argument has a letter for each step; each step but a message takes the next name, and the arguments that it needs.
enum RedisScript {
  static let source = """
    local names, arguments = 0, 1
    local function argument() arguments = arguments + 1 return ARGV[arguments] end
    local read = {}
    for step in string.gmatch(ARGV[1], '.') do
      if step ~= 'p' then names = names + 1 end
      local name = KEYS[names]
      if step == 'a' then
        if redis.call('STRLEN', name) > 0 then return false end
      elseif step == 'b' then
        local start = argument()
        if redis.call('GETRANGE', name, 0, #start - 1) ~= start then return false end
      elseif step == 'p' then
        local channel, message = argument(), argument()
        redis.call('PUBLISH', channel, message)
      elseif step == 's' or step == 'm' then
        local bytes, life = argument(), argument()
        local options = {}
        if life ~= '' then options = {'PX', life} end
        if step == 'm' then options[#options + 1] = 'NX' end
        redis.call('SET', name, bytes, unpack(options))
      elseif step == 'd' then
        redis.call('DEL', name)
      else
        read[#read + 1] = redis.call('GET', name)
      end
    end
    return read
    """

  static func milliseconds(_ lifetime: Duration) -> [UInt8] {
    // Upwards: what is kept a little longer expires by its own deadline.
    Array(String((max(1, lifetime.clampedNanoseconds) - 1) / 1_000_000 + 1).utf8)
  }

  /// The names and arguments of a call.
  static func call(
    _ changes: [SharedChange], _ conditions: [SharedCondition], _ reads: [[UInt8]],
    telling messages: [RedisChannel.Message]
  ) -> (names: [[UInt8]], arguments: [[UInt8]]) {
    var steps: [UInt8] = []
    var (names, arguments): ([[UInt8]], [[UInt8]]) = ([], [])
    func step(_ letter: Character, _ name: [UInt8], _ more: [[UInt8]] = []) {
      steps += String(letter).utf8
      names.append(name)
      arguments += more
    }
    for condition in conditions {
      switch condition {
      case .absent(let name): step("a", name)
      case .begins(let name, let start): step("b", name, [start])
      }
    }
    // Before the first change: a user who may not publish changes nothing.
    for message in messages {
      steps += "p".utf8
      arguments += [message.channel, message.bytes]
    }
    for change in changes {
      switch change {
      case .set(let name, let bytes, let life): step("s", name, [bytes, life.map(milliseconds) ?? []])
      case .make(let name, let bytes, let life): step("m", name, [bytes, life.map(milliseconds) ?? []])
      case .remove(let name): step("d", name)
      }
    }
    for name in reads { step("r", name) }
    return (names, [steps] + arguments)
  }

  /// The command for a change without conditions.
  static func command(_ change: SharedChange, _ names: RedisNames) -> [[UInt8]] {
    func set(_ name: [UInt8], _ bytes: [UInt8], _ life: Duration?, _ more: [String]) -> [[UInt8]] {
      [Array("SET".utf8), names.written(name), bytes] + (life.map { [Array("PX".utf8), milliseconds($0)] } ?? [])
        + more.map { Array($0.utf8) }
    }
    return switch change {
    case .set(let name, let bytes, let life): set(name, bytes, life, [])
    case .make(let name, let bytes, let life): set(name, bytes, life, ["NX"])
    case .remove(let name): [Array("DEL".utf8), names.written(name)]
    }
  }
}

extension SharedChange {
  var changedName: [UInt8] {
    switch self {
    case .set(let name, _, _), .make(let name, _, _), .remove(let name): name
    }
  }
}
#endif
