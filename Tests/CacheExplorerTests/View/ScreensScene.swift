import CacheEngine

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// A session in which every kind of miss has happened once.
struct ScreensScene {
  static let configuration = """
    name: demo
    levels:
      - memory: { capacity: 1 MiB, expiry: 30s }
      - disk: { directory: ./cache, capacity: 20 MiB, expiry: 10m }
      - pooled:
          capped: { limit: 3, level: { origin: { latency: 40ms..200ms, seed: 7 } } }
    """

  private var scene: Scene

  static func make(_ size: Size) throws -> Scene {
    let read = try ConfigurationReader.read(configuration, file: "demo.yaml", folder: "/srv")
    var screens = ScreensScene(scene: Scene(size: size, configuration: read))
    screens.scene.model.config = ConfigSheet(read, file: "demo.yaml")
    screens.play()
    return screens.scene
  }

  private mutating func play() {
    for key in ["user:42", "user:9113", "feed:home", "i18n/日本語", "key\u{1b}[2J"] { load(key) }
    scene.pass(.seconds(31))
    // Expired in memory, found on disk; the memory level tells first that it drops the entry.
    readFromDisk("user:42", isExpired: true)
    scene.pass(.seconds(1))
    event(.removed(.evicted, cost: 4_200), "memory", "feed:home", nil, madeRoomFor: "img:hero")
    readFromDisk("feed:home", isExpired: false)
    scene.pass(.milliseconds(1_200))
    share("thumb:903")
    scene.pass(.milliseconds(700))
    fail("img:logo")
    scene.pass(.seconds(2))
    let waiting = begin("search:swift")
    miss("memory", "search:swift", waiting, .absent, .microseconds(20))
    event(.lookupBegan, "disk", "search:swift", waiting)
    scene.send(
      .usage([
        "memory": LevelUsage(count: 5, cost: 21_000, capacity: 1 << 20),
        "disk": LevelUsage(count: 6, cost: 26_000, capacity: 20 << 20),
      ]))
    scene.pass(.milliseconds(3))
  }

  /// Sends an event, with its line of the log.
  private mutating func event(
    _ kind: CacheEvent.Kind, _ level: String?, _ key: String?, _ request: RequestID?, madeRoomFor: String? = nil
  ) {
    let event = CacheEvent(
      time: scene.now, request: request, level: level, key: key, kind: kind, madeRoomFor: madeRoomFor)
    scene.send(.events([event], lost: 0))
    let wall = Scene.wall + Scene.start.duration(to: scene.now)
    let lines = LogLine.lines(for: [event], now: scene.now, wall: wall, first: scene.model.live.eventCount)
    scene.send(.log(lines, lost: 0))
  }

  private mutating func begin(_ key: String) -> RequestID {
    let request = scene.nextRequest()
    event(.requestBegan(.get), nil, key, request)
    return request
  }

  private mutating func end(_ key: String, _ request: RequestID, _ outcome: CacheEvent.Outcome, _ took: Duration) {
    event(.requestEnded(.get, outcome, took), nil, key, request)
  }

  private mutating func miss(
    _ level: String, _ key: String, _ request: RequestID, _ reason: MissReason, _ took: Duration
  ) {
    event(.lookupBegan, level, key, request)
    scene.pass(took)
    event(.miss(reason, took), level, key, request)
  }

  private mutating func fill(_ level: String, _ key: String, _ request: RequestID, _ lifetime: Duration) {
    scene.pass(.microseconds(90))
    event(
      .stored(.backFill, cost: 4_200, deadline: scene.now.advanced(by: lifetime), .microseconds(90)), level, key,
      request)
  }

  /// Nobody has it but the origin.
  private mutating func load(_ key: String) {
    let request = begin(key)
    miss("memory", key, request, .absent, .microseconds(18))
    miss("disk", key, request, .absent, .microseconds(1_140))
    event(.flightBegan, "pool", key, request)
    event(.lookupBegan, "origin", key, request)
    scene.pass(.milliseconds(82))
    event(.hit(cost: 4_200, deadline: nil, .milliseconds(82)), "origin", key, request)
    event(.flightEnded(callers: 1, .milliseconds(82)), "pool", key, request)
    fill("disk", key, request, .seconds(600))
    fill("memory", key, request, .seconds(30))
    end(key, request, .hit(level: "origin"), .milliseconds(83))
  }

  private mutating func readFromDisk(_ key: String, isExpired: Bool) {
    let request = begin(key)
    event(.lookupBegan, "memory", key, request)
    scene.pass(.microseconds(20))
    if isExpired { event(.removed(.expired, cost: 4_200), "memory", key, request) }
    event(.miss(isExpired ? .expired : .absent, .microseconds(20)), "memory", key, request)
    event(.lookupBegan, "disk", key, request)
    scene.pass(.microseconds(460))
    event(
      .hit(cost: 4_200, deadline: scene.now.advanced(by: .seconds(560)), .microseconds(460)), "disk", key, request)
    fill("memory", key, request, .seconds(30))
    end(key, request, .hit(level: "disk"), .microseconds(570))
  }

  /// One load, three callers.
  private mutating func share(_ key: String) {
    let leader = begin(key)
    miss("memory", key, leader, .absent, .microseconds(18))
    miss("disk", key, leader, .absent, .microseconds(1_140))
    event(.flightBegan, "pool", key, leader)
    event(.operated(.queued(running: 3, waiting: 1)), "capped", key, leader)
    scene.pass(.milliseconds(12))
    event(.operated(.admitted(running: 3, waiting: 0)), "capped", key, leader)
    event(.lookupBegan, "origin", key, leader)
    var followers: [RequestID] = []
    for callers in 2...3 {
      scene.pass(.milliseconds(20))
      let follower = begin(key)
      miss("memory", key, follower, .absent, .microseconds(18))
      miss("disk", key, follower, .absent, .microseconds(1_140))
      event(.flightJoined(callers: callers), "pool", key, follower)
      followers.append(follower)
    }
    scene.pass(.milliseconds(40))
    event(.hit(cost: 14_336, deadline: nil, .milliseconds(82)), "origin", key, leader)
    event(.flightEnded(callers: 3, .milliseconds(96)), "pool", key, leader)
    fill("disk", key, leader, .seconds(600))
    fill("memory", key, leader, .seconds(30))
    end(key, leader, .hit(level: "origin"), .milliseconds(97))
    for (place, follower) in followers.enumerated() {
      end(key, follower, .hit(level: "origin"), .milliseconds(62 - place * 20))
    }
  }

  private mutating func fail(_ key: String) {
    let request = begin(key)
    miss("memory", key, request, .absent, .microseconds(18))
    miss("disk", key, request, .absent, .microseconds(1_140))
    event(.flightBegan, "pool", key, request)
    event(.lookupBegan, "origin", key, request)
    scene.pass(.milliseconds(150))
    event(.failed(.get, "no route to host", .milliseconds(150)), "origin", key, request)
    event(.flightEnded(callers: 1, .milliseconds(150)), "pool", key, request)
    end(key, request, .failed("no route to host"), .milliseconds(152))
  }
}
