import CacheEngine

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// A model with a story to tell, made of events as a cache would send them.
struct Scene {
  static let start = CacheInstant(nanoseconds: 1_000_000_000_000)
  /// 12:03:00 on a day long ago.
  static let wall = Duration.seconds(1_767_225_600 + 12 * 3_600 + 3 * 60)

  var model: Model
  private(set) var now = Scene.start
  private var number: UInt64 = 0

  init(size: Size, levels: [LevelRow] = Scene.threeLevels) {
    model = Model(title: "demo.yaml", levels: levels, size: size, now: Scene.start)
    model.command.grammar = .commandLine
    send(.tick(now, wall: Scene.wall))
  }

  /// A model of a configuration.
  init(size: Size, configuration: CacheConfiguration) {
    model = Model(configuration, title: "demo.yaml", now: Scene.start)
    model.command.grammar = .commandLine
    model.size = size
    model.utcOffsetInSeconds = 0
    send(.tick(now, wall: Scene.wall))
  }

  static let threeLevels = [
    LevelRow(name: "memory", kind: "memory", capacity: "LRU 64 MiB"),
    LevelRow(name: "disk", kind: "disk", capacity: "256 MiB"),
    LevelRow(name: "origin", kind: "origin", isOrigin: true),
  ]

  @discardableResult
  mutating func send(_ message: Message) -> [Effect] {
    sent.append(message)
    return update(&model, message)
  }
  /// What was sent so far; a test may take it out.
  var sent: [Message] = []

  mutating func press(_ keys: InputEvent.Key...) {
    for key in keys { send(.input(.key(key))) }
  }

  mutating func type(_ text: String) {
    for character in text { send(.input(.key(.character(character)))) }
  }

  mutating func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    send(.tick(now, wall: Scene.wall + Scene.start.duration(to: now)))
  }

  mutating func event(_ kind: CacheEvent.Kind, level: String? = nil, key: String? = nil, request: RequestID? = nil) {
    send(.events([CacheEvent(time: now, request: request, level: level, key: key, kind: kind)], lost: 0))
  }

  mutating func nextRequest() -> RequestID {
    number += 1
    return RequestID(number)
  }

  /// A read that is answered by a level; those above miss and are filled.
  mutating func read(_ key: String, from found: Int, lifetime: Duration? = .seconds(60), size: Int = 4_200) {
    let levels = model.live.levels
    let request = nextRequest()
    let deadline = lifetime.map { now.advanced(by: $0) }
    event(.requestBegan(.get), key: key, request: request)
    let latencies: [Duration] = [.microseconds(18), .microseconds(1_140), .milliseconds(82)]
    for index in 0...found {
      let latency = latencies[min(index, 2)]
      event(.lookupBegan, level: levels[index].name, key: key, request: request)
      if index == found {
        let known = model.live.entries.row(key)?.presence[index]?.deadline
        event(
          .hit(cost: size, deadline: known ?? deadline, latency), level: levels[index].name, key: key, request: request)
      } else {
        event(.miss(.absent, latency), level: levels[index].name, key: key, request: request)
      }
    }
    for index in (0..<found).reversed() {
      event(
        .stored(.backFill, cost: size, deadline: deadline, .microseconds(90)), level: levels[index].name, key: key,
        request: request)
    }
    event(
      .requestEnded(.get, .hit(level: levels[found].name), .milliseconds(1)), key: key, request: request)
  }

  mutating func log(_ level: LogLevel, _ source: String, _ text: String, request: UInt64? = nil) {
    let time = Scene.wall + Scene.start.duration(to: now)
    send(
      .log(
        [LogLine(time: time, level: level, source: source, text: text, request: request.map(RequestID.init))], lost: 0))
  }

  /// A minute of reads, a memory warning, and a load that three callers wait for.
  static func busy(_ size: Size, levels: [LevelRow] = Scene.threeLevels) -> Scene {
    var scene = Scene(size: size, levels: levels)
    let keys = ["user:42", "user:9113", "feed:home?page=1", "i18n/日本語", "key\u{1b}[2J\u{202e}", "search:\"swift\""]
    for (index, key) in keys.enumerated() { scene.read(key, from: 2, lifetime: .seconds(25 + index * 30)) }
    scene.read("img:hero@2x", from: 2, lifetime: .seconds(600), size: 1_992_294)
    scene.read("cfg/flags", from: 2, lifetime: nil, size: 9_216)
    scene.read("session:7f3a9e12bc45d6708812aa91", from: 2, lifetime: .seconds(22), size: 212)
    scene.event(.miss(.expired, .microseconds(20)), level: "memory", key: "feed:home?page=1")
    for second in 0..<20 {
      for step in 0..<(3 + second % 5) { scene.read(keys[(second + step) % keys.count], from: step == 3 ? 1 : 0) }
      scene.pass(.seconds(1))
    }
    scene.log(.info, "disk", "expire session:11aa  swept=2 freed=424 B")
    scene.log(.error, "origin", "timed out: img:logo after 3 attempts (2.9 s)", request: 102)
    scene.event(
      .memoryWarning(dropped: 6, cost: 64_172_851, .microseconds(1_300)), level: "memory")
    scene.log(.warning, "memory", "pressure: dropped 6 entries, 61.2 MiB, 1.3 ms")
    scene.pass(.seconds(1))
    scene.read("user:42", from: 1)
    scene.read("user:42", from: 0)
    scene.pass(.seconds(2))
    scene.log(.debug, "memory", "miss   img:logo   0.018 ms", request: 131)
    let leader = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "img:logo", request: leader)
    scene.event(.lookupBegan, level: "memory", key: "img:logo", request: leader)
    scene.event(.miss(.absent, .microseconds(18)), level: "memory", key: "img:logo", request: leader)
    scene.event(.lookupBegan, level: "disk", key: "img:logo", request: leader)
    scene.event(.miss(.absent, .microseconds(1_140)), level: "disk", key: "img:logo", request: leader)
    scene.event(.flightBegan, level: "pool", key: "img:logo", request: leader)
    scene.event(.lookupBegan, level: "origin", key: "img:logo", request: leader)
    for callers in 2...4 {
      let follower = scene.nextRequest()
      scene.event(.requestBegan(.get), key: "img:logo", request: follower)
      scene.event(.flightJoined(callers: callers), level: "pool", key: "img:logo", request: follower)
    }
    scene.log(.info, "pool", "join   img:logo   callers=4", request: 134)
    scene.send(
      .usage([
        "memory": LevelUsage(count: 1_204, cost: 47_600_000, capacity: 64 << 20),
        "disk": LevelUsage(count: 8_410, cost: 51_000_000, capacity: 256 << 20),
      ]))
    scene.pass(.milliseconds(412))
    return scene
  }

  var canvas: Canvas {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    return canvas
  }

  var lines: [String] { canvas.lines }
}
