import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

struct ConfigurationLintsTests {
  @Test(
    "What hardly anybody means is warned of, at its place",
    arguments: [
      (
        "levels:\n  - memory: { expiry: 1m }\n  - disk: { directory: d, expiry: 30s }",
        ["2:5 memory keeps values longer than disk below it"]
      ),
      (
        "levels:\n  - memory: {}\n  - disk: { directory: d, expiry: 30s }",
        ["2:5 memory keeps values longer than disk below it"]
      ),
      ("levels:\n  - memory: { expiry: 30s }\n  - disk: { directory: d, expiry: 30s }", []),
      ("levels:\n  - memory: { expiry: 30s }\n  - disk: { directory: d }", []),
      (
        "levels:\n  - memory: {}\n  - origin: {}",
        ["3:5 origin is slow and not pooled: simultaneous readers of one key each ask it"]
      ),
      ("levels:\n  - memory: {}\n  - origin: { latency: 0ms }", []),
      (
        "levels:\n  - origin: { latency: 0ms..1ms }",
        ["2:5 origin is slow and not pooled: simultaneous readers of one key each ask it"]
      ),
      (
        "levels:\n  - network: { url: \"http://h/{key}\" }",
        ["2:5 network is slow and not pooled: simultaneous readers of one key each ask it"]
      ),
      (
        "levels:\n  - pooled: origin\n  - memory: {}",
        ["3:5 memory stands below origin and is asked only when that fails"]
      ),
      ("levels:\n  - memory: {}\n  - pooled: origin", []),
      ("levels:\n  - memory\n  - \(redis(""))", []),
      ("levels:\n  - \(redis(""))", []), ("levels:\n  - memory\n  - retry: { level: { \(redis("")) } }", []),
      (
        "levels:\n  - \(redis(", coherence: true"))",
        ["2:5 redis tells what others change, and nothing above it holds copies"]
      ),
      (
        "levels:\n  - memory\n  - \(redis(", coherence: false"))",
        ["3:5 memory keeps its copies for ever, and never hears what others change in redis"]
      ),
      ("levels:\n  - memory: { expiry: 5s }\n  - \(redis(", coherence: false"))", []),
      (
        "levels:\n  - memory\n  - \(redis(", whileDeaf: 2h"))",
        [
          "3:5 whileDeaf of redis is hardly a limit: for 2h the levels above serve what others have replaced"
        ]
      ),
      (
        "levels:\n  - memory: { expiry: 1s }\n  - \(redis(", coherence: false, whileDeaf: 2s"))",
        ["3:5 redis has whileDeaf and does not listen"]
      ),
      (
        "levels:\n  - lanes:\n      when: { prefix: a }\n      then: { memory: { expiry: 9m } }\n"
          + "      else: { memory: { expiry: 1m } }\n  - disk: { directory: d, expiry: 5m }",
        ["4:15 memory keeps values longer than disk below it"]
      ),
      (
        "levels:\n  - expiry: { after: 1m, level: memory }\n  - disk: { directory: d, expiry: 5m }", []
      ),
      (
        "levels:\n  - expiry: { after: 1m, level: { expiry: { after: 9m, level: memory } } }\n"
          + "  - disk: { directory: d, expiry: 5m }",
        []
      ),
      (
        "levels:\n  - memory\n  - lanes: { when: { prefix: a }, then: empty, else: empty }\n"
          + "  - disk: { directory: d, expiry: 5m }",
        ["2:5 memory keeps values longer than disk below it"]
      ),
      (
        "levels:\n  - lanes: { when: { prefix: a }, then: { pooled: origin }, else: memory }\n  - disk: { directory: d }",
        []
      ),
      (
        "levels:\n  - lanes: { when: { prefix: a }, then: { pooled: origin }, else: { pooled: origin } }\n  - memory",
        ["3:5 memory stands below origin and is asked only when that fails"]
      ),
      (
        "levels:\n  - lanes:\n      when: { prefix: \"img:\" }\n"
          + "      then: { conditioned: { when: { prefix: \"usr:\" }, level: memory } }\n      else: memory",
        [
          "4:15 no key that meets “prefix img:” above meets “prefix usr:”: what conditioned holds is never asked"
        ]
      ),
      (
        "levels:\n  - lanes:\n      when: { prefix: a }\n      then: memory\n"
          + "      else: { conditioned: { when: { prefix: ab }, level: memory } }",
        ["5:15 no key that meets “not prefix a” above meets “prefix ab”: what conditioned holds is never asked"]
      ),
      (
        "levels:\n  - conditioned:\n      when: { prefix: \"img:\" }\n"
          + "      level: { transformKeys: { with: { prefix: x }, level: { conditioned: { when: { prefix: x }, "
          + "level: memory } } } }",
        []
      ),
      (
        "levels:\n  - conditioned:\n      when: { prefix: \"img:\" }\n"
          + "      level: { lanes: { when: { prefix: i }, then: memory, else: memory } }",
        ["4:16 every key that comes to lanes meets “prefix i”: its else is never asked"]
      ),
      (
        "levels:\n  - conditioned: { when: { prefix: a, equals: b }, level: memory }",
        ["2:5 no key meets “prefix a and equals b”"]
      ),
      (
        "levels:\n  - pooled: { capped: { limit: 20000, level: origin } }",
        ["2:15 capped allows 20000 at once, which is no limit"]
      ),
      ("levels:\n  - retry: { level: memory }", ["2:5 retry is around levels that fail alike each time"]),
      (
        "levels:\n  - retry: { level: { fallback: { value: x, level: { pooled: origin } } } }",
        ["2:5 retry is around fallback, which never fails: nothing is tried again"]
      ),
      ("levels:\n  - breaker: { level: memory }", ["2:5 breaker is around levels that are not slow to fail"]),
      (
        "levels:\n  - timeout: { after: 20ms, level: { pooled: { origin: { latency: 20ms..1s } } } }",
        ["2:5 timeout ends after 20ms, before origin can answer: every read of it fails"]
      ),
      ("levels:\n  - timeout: { after: 21ms, level: { pooled: { origin: { latency: 20ms..1s } } } }", []),
      (
        "levels:\n  - timeout: { after: 2s, level: { retry: { delay: 2s, level: { pooled: origin } } } }",
        ["2:5 timeout ends after 2s, before retry tries again"]
      ),
      (
        "levels:\n  - transformValues: { with: [base64, gzip], level: memory }",
        ["2:5 transformValues compresses what base64 has just made longer"]
      ),
      ("levels:\n  - transformValues: { with: [gzip, base64], level: memory }", []),
      (
        "levels:\n  - transformKeys: { with: lowercase, level: memory }",
        ["2:5 transformKeys makes one key of keys that differ: with lowercase they share a value"]
      ),
      ("levels:\n  - transformKeys: { with: lowercase, level: { pooled: origin } }", []),
      (
        "levels:\n  - stale:\n      ifError: 10m\n      level: { memory: { expiry: 5s } }\n      from: { pooled: origin }",
        ["4:16 memory drops what has expired, so that stale has nothing stale to serve"]
      ),
      (
        "levels:\n  - stale:\n      ifError: 10m\n      level: { memory: { expiry: 5s, keepExpired: 1m } }\n"
          + "      from: { pooled: origin }",
        ["4:16 memory keeps expired entries for 1m, less than stale serves them"]
      ),
      (
        "levels:\n  - stale:\n      ifError: 10m\n      level: { memory: { expiry: 5s, keepExpired: 10m } }\n"
          + "      from: { pooled: origin }",
        []
      ),
      ("levels:\n  - stale: { ifError: 10m, level: memory, from: { pooled: origin } }", []),
      (
        "levels:\n  - stale: { refreshAhead: 5s, level: { memory: { expiry: 5s } }, from: { pooled: origin } }",
        ["2:5 stale refreshes 5s ahead, and memory keeps values for 5s: every read refreshes"]
      ),
      (
        "levels:\n  - stale: { ifError: 5s, level: { pooled: origin }, from: { pooled: origin } }",
        [
          "2:5 stale has nothing that holds values",
          "2:70 origin-2 stands below origin and is asked only when that fails",
        ]
      ),
      (
        "levels:\n  - stale: { ifError: 5s, level: { memory: { keepExpired: 5s } }, from: memory }",
        ["2:5 stale has no source to refresh from"]
      ),
    ] as [(String, [String])])
  func warnings(text: String, expected: [String]) throws {
    let warnings = try ConfigurationReader.read(text, file: "c.yaml", folder: "/").warnings
    #expect(warnings.map { "\($0.place?.line ?? 0):\($0.place?.column ?? 0) \($0.message)" } == expected)
    #expect(warnings.allSatisfy { $0.severity == .warning && $0.file == "c.yaml" && !$0.remedy.isEmpty })
  }

  @Test("A memory level that may take more than half of the machine's memory is warned of")
  func memory() throws {
    let configuration = try ConfigurationReader.read(
      "levels: [{ memory: { capacity: 5 MiB } }]", file: "c.yaml", folder: "/")
    #expect(
      ConfigurationLints.warnings(for: configuration, file: "c.yaml", memory: 8 << 20).map(\.description) == [
        "c.yaml:1:12: warning: memory may take more than half of this machine's memory; give it a smaller capacity"
      ])
    #expect(ConfigurationLints.warnings(for: configuration, file: "c.yaml", memory: 10 << 20) == [])
    #expect(ConfigurationLints.warnings(for: configuration, file: "c.yaml") == [])
  }

  @Test("A disk on which what the workload asks for has no room is warned of")
  func workingSet() throws {
    func warnings(_ workload: String) throws -> [String] {
      try ConfigurationReader.read(
        "levels:\n  - disk: { directory: d, capacity: 1 MiB }\n  - pooled: { origin: { size: 4 KiB } }\nworkload: \(workload)",
        file: "c.yaml", folder: "/"
      ).warnings.map(\.description)
    }
    #expect(
      try warnings("{ name: zipf, keys: 1000 }") == [
        "c.yaml:2:5: warning: disk has room for 1 MiB, and the workload's 1000 keys need about 3.9 MiB; "
          + "give it a larger capacity, or the workload fewer keys"
      ])
    #expect(try warnings("{ name: zipf, keys: 200 }").isEmpty)
    #expect(try warnings("{ name: zipf, keys: 1000, key: one }").isEmpty)
    #expect(try warnings("scan").isEmpty)
  }
}

private func redis(_ more: String) -> String { "redis: { url: \"redis://h\", namespace: a\(more) }" }
