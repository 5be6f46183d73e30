import CacheEngine
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

struct ConfigurationReaderTests {
  @Test("Every field of the levels that write to disk or network can be written down")
  func storageFields() throws {
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - disk: { directory: d, durability: synced }
        - defaults: { domain: com.example, expiry: 1h, durability: synced }
        - network: { url: "http://h/{key}", connectTimeout: 2s }
        - empty
      workload: { name: trace, file: t.gz }
      """, file: "c.yaml", folder: "/home/me")
    let kinds = configuration.levels.map(\.kind)
    #expect(kinds[0] == .disk(DiskSpecification(directory: "/home/me/d", durability: .synced)))
    #expect(
      kinds[1]
        == .defaults(DefaultsSpecification(domain: "com.example", lifetime: .seconds(3_600), durability: .synced)))
    #expect(kinds[2] == .network(NetworkSpecification(template: "http://h/{key}", connectTimeout: .seconds(2))))
    #expect(kinds[3] == .empty)
    #expect(configuration.workload?.file == "/home/me/t.gz")
  }

  private func read(_ text: String) throws(ConfigurationFailure) -> CacheConfiguration {
    try ConfigurationReader.read(text, file: "c.yaml", folder: "/home/me")
  }

  private func problems(_ text: String) -> [String] {
    do {
      _ = try read(text)
      return []
    } catch { return error.problems.map(\.description) }
  }

  @Test("A complete configuration becomes exactly the value that it describes")
  func complete() throws {
    let configuration = try read(
      """
      name: all
      log: warning
      levels:
        - memory: { capacity: 2 MiB, count: 1000, policy: lru, expiry: 30s }
        - disk:
            directory: ./cache
            capacity: 20 MiB
            expiry: 10m
        - pooled:
            name: shared
            network: { url: "http://host/{+key}", timeout: 5s }
        - pooled:
            - origin: { latency: 40ms..200ms, failures: 1%, missing: 0.5, size: 1 KiB..4 KiB, seed: 7 }
      workload: { name: burst, rate: 2.5, requests: 10, seed: 3, key: a b }
      """)
    let network = LevelSpecification(
      name: "network", kind: .network(NetworkSpecification(template: "http://host/{+key}", timeout: .seconds(5))),
      place: Place(line: 11, column: 7))
    let origin = LevelSpecification(
      name: "origin",
      kind: .origin(
        OriginSpecification(
          latency: .milliseconds(40)...(.milliseconds(200)), failures: 0.01, missing: 0.5, size: 1_024...4_096,
          seed: 7)),
      place: Place(line: 13, column: 9))
    #expect(configuration.name == "all")
    #expect(configuration.logLevel == "warning")
    #expect(
      configuration.workload
        == WorkloadRequest(name: "burst", rate: 2.5, requests: 10, seed: 3, key: "a b"))
    #expect(
      configuration.levels == [
        LevelSpecification(
          name: "memory",
          kind: .memory(
            MemorySpecification(capacity: 2 << 20, countLimit: 1_000, eviction: .lru, lifetime: .seconds(30))),
          place: Place(line: 4, column: 5)),
        LevelSpecification(
          name: "disk",
          kind: .disk(
            DiskSpecification(directory: "/home/me/cache", capacity: 20 << 20, lifetime: .seconds(600))),
          place: Place(line: 5, column: 5)),
        LevelSpecification(name: "shared", kind: .around(.pooled, [network]), place: Place(line: 9, column: 5)),
        LevelSpecification(name: "pool", kind: .around(.pooled, [origin]), place: Place(line: 12, column: 5)),
      ])
  }

  @Test("The lifetime of a level can be spread where it is given")
  func jitter() throws {
    let configuration = try read(
      """
      levels:
        - memory: { expiry: { after: 30s, jitter: 20% } }
        - disk: { directory: d, expiry: { after: 10m, jitter: 0.5 } }
        - defaults: { domain: a.b, expiry: { after: 1h } }
      """)
    #expect(configuration.levels.map(\.lifetime) == [.seconds(30), .seconds(600), .seconds(3_600)])
    #expect(configuration.levels.map(\.jitter) == [0.2, 0.5, 0])
    #expect(
      configuration.settings.filter { $0.field == "expiry" }.map(\.value) == [
        "30s, up to 20% less", "10m, up to 50% less", "1h",
      ])
    #expect(
      problems("levels: [{ memory: { expiry: { jitter: 20% } } }]") == [
        "c.yaml:1:30: error: expiry needs “after”; write after: 30s"
      ])
    #expect(
      problems("levels: [{ memory: { expiry: { after: 30s, jiter: 20% } } }]") == [
        "c.yaml:1:44: error: expiry has no field “jiter”; did you mean “jitter”?"
      ])
    #expect(problems("levels: [{ memory: { expiry: { after: 30s, jitter: 200% } } }]").count == 1)
  }

  @Test("What is left out has its default, and the file gives the name")
  func defaults() throws {
    let configuration = try read("levels: [memory, { disk: { directory: /var/x } }, origin]")
    #expect(configuration.name == "c")
    #expect(configuration.workload == nil)
    #expect(configuration.logLevel == nil)
    #expect(
      configuration.levels.map(\.kind) == [
        .memory(MemorySpecification()), .disk(DiskSpecification(directory: "/var/x")), .origin(OriginSpecification()),
      ])
  }

  @Test("Levels of one kind are numbered, past the names that others ask for")
  func numbering() throws {
    let configuration = try read(
      """
      levels:
        - memory: {}
        - memory: {}
        - memory: { name: memory-3 }
        - memory: {}
        - memory: { name: top }
      """)
    #expect(configuration.levels.map(\.name) == ["memory", "memory-2", "memory-3", "memory-4", "top"])
  }

  @Test("A name that is given later is kept for the level that asks for it")
  func reservedNames() throws {
    let configuration = try read("levels: [memory: {}, disk: { name: memory, directory: x }]")
    #expect(configuration.levels.map(\.name) == ["memory-2", "memory"])
  }

  @Test(
    "A pool holds its levels in any of its spellings",
    arguments: [
      "pooled: { origin: { seed: 1 } }", "pooled: { level: { origin: { seed: 1 } } }",
      "pooled: { levels: [{ origin: { seed: 1 } }] }", "pooled: [{ origin: { seed: 1 } }]",
    ])
  func pools(level: String) throws {
    let pool = try #require(try read("levels:\n  - \(level)").levels.first)
    #expect(pool.word == "pooled")
    #expect(pool.name == "pool")
    #expect(pool.inner.map(\.kind) == [.origin(OriginSpecification(seed: 1))])
  }

  @Test("A pool holds a level that is only named, and more than one level")
  func pooledWord() throws {
    #expect(try read("levels: [pooled: origin]").levels.first?.inner.map(\.name) == ["origin"])
    let several = try read("levels: [pooled: [{ disk: { directory: d } }, origin]]")
    #expect(several.levels.first?.inner.map(\.name) == ["disk", "origin"])
  }

  @Test("JSON is read as well")
  func json() throws {
    let configuration = try read(
      #"{"levels": [{"memory": {"capacity": "1 MiB", "count": 5}}], "workload": {"name": "loop", "rate": 7}}"#)
    #expect(
      configuration.levels.map(\.kind) == [.memory(MemorySpecification(capacity: 1 << 20, countLimit: 5))])
    #expect(configuration.workload == WorkloadRequest(name: "loop", rate: 7))
  }

  @Test("A workload may be only a name, in a file that begins with a mark of UTF-8 too")
  func workloadName() throws {
    for mark in ["", "\u{feff}"] {
      #expect(try read("\(mark)levels: [memory]\nworkload: scan").workload == WorkloadRequest(name: "scan"))
    }
  }

  @Test("What is wrong is told with its place and a remedy", arguments: badConfigurations)
  func bad(configuration: BadConfiguration) {
    #expect(problems(configuration.text) == configuration.problems.map { "c.yaml" + $0 })
  }

  @Test("Malformed YAML is refused at the place where it breaks")
  func malformed() throws {
    let found = problems("levels:\n  - memory: { capacity: 1 MiB\n")
    #expect(found.count == 1)
    #expect(try #require(found.first).hasPrefix("c.yaml:3:1: error: this is not YAML: "))
    #expect(try #require(found.first).hasSuffix("; mend the YAML there"))
  }

  @Test("Brackets without end are an error, not a crash")
  func brackets() {
    #expect(
      problems("levels:\n  " + String(repeating: "[", count: 20_000)) == [
        "c.yaml:2:3: error: the file is nested too deeply; use fewer levels within each other"
      ])
  }

  @Test("Aliases repeat a part, but cannot make a small file endless", .timeLimit(.minutes(10)))
  func aliases() throws {
    let twice = try read("levels: [memory: &m { capacity: 1 MiB }, memory: *m]")
    #expect(twice.levels.map(\.kind) == Array(repeating: .memory(MemorySpecification(capacity: 1 << 20)), count: 2))
    var bomb = "levels:\n  - &a0 origin\n"
    for depth in 1...12 {
      bomb += "  - &a\(depth) { pooled: [\(Array(repeating: "*a\(depth - 1)", count: 10).joined(separator: ", "))] }\n"
    }
    #expect(problems(bomb) == ["c.yaml:7:19: error: the file unfolds to too much; use fewer aliases and levels"])
  }

  @Test("Operators that hold one another too deeply are refused, at the one that is too deep")
  func nesting() {
    func nested(_ depth: Int) -> String {
      "levels: [" + String(repeating: "pooled: [", count: depth) + "origin" + String(repeating: "]", count: depth + 1)
    }
    #expect(problems(nested(15)) == [])
    #expect(
      problems(nested(16)) == [
        "c.yaml:1:\(10 + 16 * 9): error: operators are nested too deeply; nest at most 16"
      ])
    #expect(problems(nested(100)).count == 1)
  }

  @Test("Two levels that keep their entries in one place are refused, however the place is written")
  func sharedFolders() {
    let remedy = "give every level a place of its own"
    #expect(
      problems("levels:\n  - disk: { directory: ./d }\n  - disk: { directory: /home/me/x/../d/ }\n") == [
        "c.yaml:3:13: error: disk-2 has the place of disk: each would drop what the other keeps; \(remedy)"
      ])
    #expect(
      problems(
        "levels:\n  - pooled: [ { defaults: { domain: a } } ]\n  - defaults: { domain: a }\n  - defaults: { domain: b }\n"
      ).count == 1)
  }

  @Test("A link leads to the same place")
  func linkedFolders() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cx-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder + "/real", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/real")
    let found = problems("levels:\n  - disk: { directory: \(folder)/real }\n  - disk: { directory: \(folder)/link }\n")
    #expect(found.count == 1)
    #expect(found.first?.contains("disk-2 has the place of disk") == true)
  }

  @Test("Lists within lists are looked into down to the hundredth")
  func deepLists() {
    func nested(_ depth: Int) -> [String] {
      problems("levels: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }
    #expect(nested(99).first?.contains("a level is one kind with its fields") == true)
    #expect(nested(100) == ["c.yaml:1:108: error: the file unfolds to too much; use fewer aliases and levels"])
  }

  @Test("A name has at most 100 characters")
  func longNames() {
    func named(_ length: Int) -> [String] {
      problems("levels: [ memory: { name: \(String(repeating: "n", count: length)) } ]")
    }
    #expect(named(100) == [])
    #expect(named(101).count == 1)
  }

  @Test("What is measured beside a cache in Redis is named apart, and forgotten after an hour")
  func apart() {
    let redis = RedisSpecification(url: "redis://h", address: "h:6379", namespace: "app")
    let apart = redis.apart(as: "7")
    #expect(apart.namespace == "7-app")
    #expect(apart.longestLife == .seconds(3_600))
    #expect(apart.url == redis.url && apart.place != redis.place)
  }

  @Test("User and password of a source are in use, and shown nowhere")
  func secret() throws {
    let text = "levels: [ network: { url: \"https://ada:hidden@h:7000/{key}?by=a@b\" } ]"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    guard case .network(let network)? = configuration.levels.first?.kind else { return #expect(Bool(false)) }
    #expect(network.template.contains("ada:hidden@"))
    let shown = configuration.settings.map(\.value)
    #expect(shown.contains("https://h:7000/{key}?by=…"))
    #expect(!shown.contains { $0.contains("hidden") || $0.contains("ada") })
  }

  @Test("A change that no value shows, as that of a password, is a change; where something stands is none")
  func hiddenChanges() throws {
    func read(_ password: String, _ capacity: Int = 1 << 20, above: String = "") throws -> CacheConfiguration {
      try ConfigurationReader.read(
        """
        \(above)levels:
          - lanes:
              when: { prefix: "a" }
              then: { memory: { capacity: \(capacity) } }
              else: { memory: { name: rest } }
          - redis: { url: "redis://ada:\(password)@h", namespace: n }
          - network: { url: "https://ada:\(password)@h/{key}" }
        """, file: "c.yaml", folder: "/")
    }
    let old = try read("alpha")
    let changes = old.changes(to: try read("omega"))
    #expect(changes.map { $0.prefix { $0 != ":" } } == ["~ redis", "~ network"])
    #expect(!changes.contains { $0.contains("alpha") || $0.contains("omega") })
    #expect(old.changes(to: try read("alpha", 1 << 20 + 1)).count == 1)
    #expect(old.changes(to: try read("alpha", above: "\n\n")).isEmpty)
  }

  @Test("A tab and a mapping in place of a list are called what they are")
  func vague() {
    #expect(
      problems("levels:\n\t- memory: {}\n") == [
        "c.yaml:2:1: error: a tab stands where YAML indents; indent with spaces"
      ])
    #expect(
      problems("levels:\n  memory: { capacity: 1 MiB }\n").first
        == "c.yaml:2:3: error: “levels” must be a list; write a dash before each level: "
        + "`- memory: { capacity: 1 MiB }`")
  }

  @Test("A workload that is written down is not called a default, nor any of its fields")
  func workloadPlaces() throws {
    let written = try read("levels:\n  - memory\nworkload: { name: zipf, rate: 5, requests: 9, keys: 3, seed: 2 }\n")
    let settings = written.settings.filter { $0.owner == "workload" }
    #expect(settings.map(\.field) == [nil, "rate", "requests", "keys", "seed"])
    #expect(settings.map(\.value) == ["zipf", "5", "9", "3", "2"])
    #expect(settings.allSatisfy { $0.place?.line == 3 }, "\(settings)")
    #expect(try read("levels:\n  - memory\nworkload: zipf\n").settings.last?.place?.line == 3)
    let fastest = try read("levels:\n  - memory\nworkload: { name: zipf, rate: max, skew: 1.0 }\n").settings.suffix(2)
    #expect(fastest.map(\.value) == ["max", "1"])
  }
}

struct BadConfiguration: Sendable, CustomTestStringConvertible {
  var text: String
  /// What follows the file's name.
  var problems: [String]

  init(_ text: String, _ problems: String...) {
    self.text = text
    self.problems = problems
  }

  var testDescription: String { text.debugDescription }
}

private let empty =
  ": error: the file is empty; write “levels:” and a level below it, as in `- memory: { capacity: 1 MiB }`"
private let kinds =
  "use one of memory, disk, defaults, redis, network, origin, empty, pooled, capped, conditioned, transformKeys, transformValues, "
  + "postProcess, expiry, negative, timeout, retry, breaker, fallback, lanes, stale"

private let badConfigurations = [
  BadConfiguration("", empty),
  BadConfiguration("# nothing\n", empty),
  BadConfiguration("~", empty),
  BadConfiguration("- memory", ":1:1: error: a configuration is a mapping; begin with “levels:”"),
  BadConfiguration("memory", ":1:1: error: a configuration is a mapping; begin with “levels:”"),
  BadConfiguration("name: x", ":1:1: error: the configuration needs “levels”; list the levels from the top"),
  BadConfiguration(
    "levels: []", ":1:9: error: “levels” needs at least one level; write `- memory: { capacity: 1 MiB }` below it"),
  BadConfiguration(
    "levels:", ":1:8: error: “levels” needs at least one level; write `- memory: { capacity: 1 MiB }` below it"),
  BadConfiguration(
    "levels: 5",
    ":1:9: error: “levels” must be a list; write a dash before each level: `- memory: { capacity: 1 MiB }`"),
  BadConfiguration("levels: [\"a\\nb\"]", ":1:10: error: there is no level “a\\u{a}b”; \(kinds)"),
  BadConfiguration(
    "name: a\nname: b\nlevels: [memory]", ":1:1: error: “name” is given twice, here and at 2:1; leave one of them out"),
  BadConfiguration(
    "levels:\n- memory: { name: é }\n- { memory: { \"expiry\": 1s, \"expiry\": 2s } }",
    ":3:15: error: “expiry” is given twice, here and at 3:29; leave one of them out"),
  // What is wrong with the rest keeps the second place from being found.
  BadConfiguration(
    "{ name: a, name: b, levels: [memory], levels: [] }",
    ":1:21: error: “levels” is given twice, first here; leave one of them out"),
  BadConfiguration(
    "levels:\n  - memory: { capacity: 1 MiB\n",
    ":3:1: error: this is not YAML: did not find expected ',' or '}' while parsing a flow mapping, which begins at 2:13; "
      + "mend the YAML there"),
  BadConfiguration(
    "levels: [memory]\n---\nlevels: [memory]",
    ":2:1: error: this is not YAML: expected a single document in the stream but found another document; "
      + "mend the YAML there"),
  BadConfiguration(
    "{\"levels\": \(String(repeating: "[", count: 12_000))",
    ":1:1: error: the file is nested too deeply; use fewer levels within each other"),
  BadConfiguration(
    "level: [memory]", ":1:1: error: the configuration needs “levels”; list the levels from the top",
    ":1:1: error: the configuration has no field “level”; did you mean “levels”?"),
  BadConfiguration("levels: [memroy]", ":1:10: error: there is no level “memroy”; did you mean “memory”?"),
  BadConfiguration(
    "name: \"\"\nlevels: [memory]",
    ":1:7: error: “name” of the configuration: a name of nothing; write a name, or leave the field out"),
  BadConfiguration(
    "levels: [{ memory: { name: \" \" } }]",
    ":1:28: error: “name” of memory: a name of nothing; write a name, or leave the field out"),
  BadConfiguration(
    "levels: [{ memory: { name: \"a\\x9b2J\" } }]",
    ":1:28: error: “name” of memory: that is no name; write at most 100 characters that can be seen"),
  BadConfiguration(
    "levels: [{ memory: { name: \"a\\x7f\" } }]",
    ":1:28: error: “name” of memory: that is no name; write at most 100 characters that can be seen"),
  BadConfiguration(
    "levels: [{ disk: { directory: d, durability: sinced } }]",
    ":1:46: error: “durability” of disk: there is no durability “sinced”; did you mean “synced”?"),
  BadConfiguration(
    "levels: [memory]\nworkload: trace",
    ":2:11: error: the workload trace needs “file”; write workload: { name: trace, file: ./requests.txt }"),
  BadConfiguration("levels:\n  - elephant: {}", ":2:5: error: there is no level “elephant”; \(kinds)"),
  BadConfiguration(
    "levels:\n  - memory: { capcity: 1 MiB }",
    ":2:15: error: memory has no field “capcity”; did you mean “capacity”?"),
  BadConfiguration(
    "levels:\n  - memory: { elephants: 3 }",
    ":2:15: error: memory has no field “elephants”; use one of name, capacity, count, expiry, keepExpired, timeToIdle, policy"
  ),
  BadConfiguration(
    "levels:\n  - memory: { capacity: 30s }",
    ":2:25: error: “capacity” of memory: “s” is not a unit of size; use B, KiB, MiB, GiB, TiB, KB, MB, GB or TB"),
  BadConfiguration(
    "levels:\n  - memory: { expiry: 30 }",
    ":2:23: error: “expiry” of memory: “30” has no unit; use us, ms, s, m, h or d"),
  BadConfiguration(
    "levels:\n  - memory: { expiry: 0s }",
    ":2:23: error: “expiry” of memory: a time limit of nothing; give more than 0"),
  BadConfiguration(
    "levels:\n  - memory: { capacity: 0 }",
    ":2:25: error: “capacity” of memory: a size is at least 1 byte; give a positive size"),
  BadConfiguration(
    "levels:\n  - memory: { capacity: -1 KiB }",
    ":2:25: error: “capacity” of memory: -1 KiB is negative; write a size such as 512 KiB, 2 MiB or 4096"),
  BadConfiguration(
    "levels:\n  - memory: { capacity: 99999999 TiB }",
    ":2:25: error: “capacity” of memory: 99999999 TiB is more than can be counted; give less than 8,000,000 TiB"),
  BadConfiguration(
    "levels:\n  - memory: { count: 0 }",
    ":2:22: error: “count” of memory: 0 is out of range; give a number from 1 to 2147483647"),
  BadConfiguration(
    "levels:\n  - memory: { count: many }",
    ":2:22: error: “count” of memory: “many” is not a whole number; write a number such as 1000"),
  BadConfiguration(
    "levels:\n  - memory: { policy: arc }",
    ":2:23: error: “policy” of memory: there is no policy “arc”; use lru, fifo, clock, sieve, "
      + "s3fifo, wtinylfu, adaptive"),
  BadConfiguration(
    "levels:\n  - memory: { capacity: [1] }",
    ":2:25: error: “capacity” of memory needs a single value; write capacity: VALUE"),
  BadConfiguration(
    "levels:\n  - memory: 7", ":2:13: error: memory needs fields in braces or below it; write memory: { … }"),
  BadConfiguration(
    "levels:\n  - { memory: {}, disk: {} }",
    ":2:5: error: a level is one kind with its fields; write `- memory: { capacity: 1 MiB }`, one level an entry"),
  BadConfiguration("levels:\n  - disk: {}", ":2:5: error: disk needs “directory”; write directory: ./cache"),
  BadConfiguration(
    "levels:\n  - disk: { directory: \"\" }",
    ":2:24: error: “directory” of disk: that is no path; write directory: ./cache"),
  BadConfiguration(
    "levels:\n  - disk: { directory: ~/cache }",
    ":2:24: error: “directory” of disk: only a shell reads “~” as your home; write the path in full, or ./~/cache if you "
      + "mean it"),
  BadConfiguration(
    "levels:\n  - disk: { directory: d, capacity: 4 KiB }",
    ":2:37: error: “capacity” of disk: 4 KiB is too little for a disk; give at least 1 MiB"),
  BadConfiguration(
    "levels:\n  - network: {}",
    ":2:5: error: network needs “url”; write url: \"http://127.0.0.1:8089/{key}\""),
  BadConfiguration(
    "levels:\n  - network: { url: \"http://host/\" }",
    ":2:21: error: “url” of network: the address does not say where the key goes; put {key} or {+key} into it"),
  BadConfiguration(
    "levels:\n  - network: { url: \"ftp://host/{key}\" }",
    ":2:21: error: “url” of network: “ftp://host/{key}” is not a web address; begin it with http:// or https://"),
  BadConfiguration(
    "levels:\n  - network: { url: \"http://host/{key}\", timeout: 0s }",
    ":2:51: error: “timeout” of network: a time limit of nothing; give more than 0"),
  BadConfiguration(
    "levels:\n  - origin: { latency: 5s..1s }",
    ":2:24: error: “latency” of origin: 5s..1s ends before it begins; put the smaller value first"),
  BadConfiguration(
    "levels:\n  - origin: { failures: 200% }",
    ":2:25: error: “failures” of origin: 200% is more than everything; give at most 100%"),
  BadConfiguration(
    "levels:\n  - pooled: {}",
    ":2:5: error: pooled needs a level inside; write pooled: { network: { … } }"),
  BadConfiguration(
    "levels:\n  - pooled:", ":2:5: error: pooled needs a level inside; write pooled: { network: { … } }"),
  BadConfiguration(
    "levels:\n  - pooled: []", ":2:5: error: pooled needs a level inside; write pooled: { network: { … } }"),
  BadConfiguration(
    "levels:\n  - pooled: { levels: [] }",
    ":2:5: error: pooled needs a level inside; write pooled: { network: { … } }"),
  BadConfiguration(
    "levels:\n  - pooled: { netwrok: {} }", ":2:15: error: there is no level “netwrok”; did you mean “network”?"),
  BadConfiguration(
    "levels:\n  - memory: { name: a }\n  - origin: { name: a }",
    ":3:5: error: the name “a” is taken; give every level a name of its own"),
  BadConfiguration(
    "levels: [memory]\nlog: waring",
    ":2:6: error: “log” of the configuration: there is no log level “waring”; "
      + "did you mean “warning”?"),
  BadConfiguration(
    "levels: [memory]\nworkload: zipd", ":2:11: error: there is no workload “zipd”; did you mean “zipf”?"),
  BadConfiguration(
    "levels: [memory]\nworkload: zipf --rate 20",
    ":2:11: error: there is no workload “zipf --rate 20”; write options as fields: workload: { name: zipf, rate: 20 }"),
  BadConfiguration(
    "levels: [memory]\nworkload: { name: scan, file: ./x }",
    ":2:25: error: “file” of workload: scan does not use it; leave it out; it is for trace"),
  BadConfiguration(
    "levels: [memory]\nworkload: { name: burst, keys: 4 }",
    ":2:26: error: “keys” of workload: burst does not use it; leave it out; it is for zipf, uniform, loop, mixed"),
  BadConfiguration(
    "levels: [memory]\nworkload: { name: scan, rate: nan }",
    ":2:31: error: “rate” of workload: “nan” is not a rate; write requests a second, such as 100, or max"),
  BadConfiguration(
    "levels: [memory]\nworkload: { name: scan, rate: 1e300 }",
    ":2:31: error: “rate” of workload: “1e300” is not a rate; write requests a second, such as 100, or max"),
  BadConfiguration(
    "levels: [memory]\nworkload: { name: scan, seed: -1 }",
    ":2:31: error: “seed” of workload: -1 is out of range; give a number from 0 to 9223372036854775807"),
  BadConfiguration(
    "levels: [memory]\nworkload: {}",
    ":2:11: error: workload needs “name”; name one of zipf, uniform, scan, loop, burst, mixed, trace"),
  BadConfiguration(
    "workload: zipd\nlevels:\n  - elephant\n  - disk: { capacity: 0 }\n",
    ":1:11: error: there is no workload “zipd”; did you mean “zipf”?",
    ":3:5: error: there is no level “elephant”; \(kinds)",
    ":4:5: error: disk needs “directory”; write directory: ./cache",
    ":4:23: error: “capacity” of disk: a size is at least 1 byte; give a positive size"),
]
