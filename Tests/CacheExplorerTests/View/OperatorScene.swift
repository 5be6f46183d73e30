import CacheEngine
import ExplorerModel
import ExplorerState

@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerText

/// A cache with operators under load, made of events as it would send them.
enum OperatorScene {
  static let everything = """
    levels:
      - memory: { capacity: 1 MiB, expiry: 3s }
      - lanes:
          when: { prefix: "img:" }
          then:
            stale:
              whileRevalidate: 6s
              ifError: 1m
              level:
                expiry:
                  after: 5s
                  level:
                    transformKeys:
                      with: { prefix: v1/ }
                      level:
                        transformValues:
                          with: [gzip, base64]
                          level: { disk: { directory: d, capacity: 4 MiB, keepExpired: 1m } }
              from:
                pooled:
                  retry:
                    level:
                      breaker:
                        failures: 3
                        reset: 30s
                        level:
                          timeout: { after: 2s, level: { capped: { limit: 2, level: { origin: { name: api } } } } }
          else:
            - conditioned:
                name: no-dots
                when: { not: { contains: "." } }
                level: { memory: { name: recent } }
            - fallback:
                value: "?"
                level:
                  negative:
                    for: 8s
                    level: { postProcess: { with: uppercase, level: { pooled: { origin: { name: archive } } } } }
    """

  static let twoLanes = """
    levels:
      - memory: { capacity: 1 MiB }
      - lanes:
          when: { suffix: .png }
          then: { pooled: { origin: { name: images } } }
          else: { capped: { limit: 3, level: { origin: { name: rest } } } }
    """

  static func busy(_ size: Size, _ yaml: String = everything) throws -> Scene {
    var scene = Scene(
      size: size, configuration: try ConfigurationReader.read(yaml, file: "demo.yaml", folder: "/"))

    for number in 0..<12 {
      scene.event(.lookupBegan, level: "memory", key: "img:\(number)", request: scene.nextRequest())
      scene.event(.miss(.absent, .microseconds(20)), level: "memory", key: "img:\(number)")
      scene.event(
        .stored(.backFill, cost: 900, deadline: scene.now.advanced(by: .seconds(5)), .microseconds(90)),
        level: "disk", key: "v1/img:\(number)")
      if number % 3 == 0 { scene.pass(.seconds(1)) }
    }
    scene.event(.miss(.expired, .microseconds(90)), level: "disk", key: "v1/img:1")
    scene.event(.operated(.servedStale(deadline: scene.now.advanced(by: .seconds(-2)))), level: "disk", key: "v1/img:1")
    scene.event(.operated(.refreshBegan), level: "stale", key: "img:1")
    scene.event(.operated(.refreshEnded(.seconds(1), error: "down")), level: "stale", key: "img:1")
    scene.event(.operated(.refreshBegan), level: "stale", key: "img:2")
    scene.event(.operated(.refused), level: "no-dots", key: "a.b")
    for attempt in 2...3 {
      scene.event(
        .operated(.retried(attempt: attempt, after: .seconds(1), error: "down")), level: "retry", key: "img:1")
    }
    scene.event(.operated(.timedOut(.seconds(2))), level: "timeout", key: "img:3")
    scene.event(.operated(.queued(running: 2, waiting: 4)), level: "capped", key: "img:9")
    scene.event(.operated(.fellBack(error: nil)), level: "fallback", key: "x")
    scene.event(.operated(.rememberedMiss), level: "negative", key: "x")
    let leader = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "img:9", request: leader)
    scene.event(.flightBegan, level: "pool", key: "img:9", request: leader)
    scene.event(.flightJoined(callers: 5), level: "pool", key: "img:9", request: scene.nextRequest())
    scene.event(.lookupBegan, level: "api", key: "img:9", request: leader)
    scene.event(.operated(.circuit(.open)), level: "breaker", key: "img:1")
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "x", request: request)
    scene.event(.requestEnded(.get, .hit(level: "fallback"), .zero), key: "x", request: request)
    scene.send(.usage(["memory": LevelUsage(count: 12, cost: 700_000, capacity: 1 << 20)]))
    scene.pass(.seconds(12))
    return scene
  }
}
