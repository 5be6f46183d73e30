import Foundation
import Testing

@testable import CacheExplorer

@Suite struct ConfigurationReaderTests {
  private func read(_ text: String) throws -> CacheConfiguration {
    try ConfigurationReader.read(text, file: "c.yaml", folder: "/home/me")
  }

  private func problems(_ text: String) -> [String] {
    do {
      _ = try ConfigurationReader.read(text, file: "c.yaml", folder: "/home/me")
      return []
    } catch { return error.problems.map(\.description) }
  }

  @Test("a configuration is read with all its fields, and relative paths are relative to its folder")
  func reads() throws {
    let configuration = try read(
      """
      name: photos
      log: info
      levels:
        - memory: { capacity: 2 MiB, count: 1000, policy: lru, expiry: 30s }
        - disk: { name: files, directory: ./cache, capacity: 20 MiB, expiry: 10m }
        - pooled:
            network: { url: "http://127.0.0.1:8089/{key}", timeout: 5s }
        - memory
      workload: { name: zipf, rate: 12, keys: 60, seed: 3 }
      """)
    #expect(configuration.name == "photos")
    #expect(configuration.logLevel == "info")
    #expect(configuration.workload == WorkloadRequest(name: "zipf", rate: 12, seed: 3, keys: 60))
    #expect(configuration.allLevels.map(\.name) == ["memory", "files", "pool", "network", "memory-2"])
    #expect(
      configuration.levels.map(\.kind).prefix(2) == [
        .memory(MemorySpecification(capacity: 2 << 20, countLimit: 1_000, lifetime: .seconds(30))),
        .disk(DiskSpecification(directory: "/home/me/./cache", capacity: 20 << 20, lifetime: .seconds(600))),
      ])
    let network = NetworkSpecification(template: "http://127.0.0.1:8089/{key}", timeout: .seconds(5))
    #expect(configuration.levels[2].inner.map(\.kind) == [.network(network)])
  }

  @Test("JSON is the same schema, and an operator may hold its level in three ways")
  func forms() throws {
    let origin = LevelSpecification.Kind.origin(OriginSpecification())
    for text in [
      #"{"levels":[{"pooled":{"origin":{}}}]}"#, "levels: [pooled: { level: { origin: } }]",
      "levels: [pooled: [origin]]",
      "levels:\n  - pooled: { levels: [origin] }",
    ] {
      #expect(try read(text).levels.first?.inner.map(\.kind) == [origin], "\(text)")
    }
  }

  @Test(
    "bad input is told with its place and a remedy",
    arguments: [
      ("", "c.yaml: error: the file is empty; write"),
      ("# nothing\n", "c.yaml: error: the file is empty"),
      ("- a\n", "c.yaml:1:1: error: a configuration is a mapping"),
      ("levels:\n  - memory: { capacity: 1 MiB\n", "c.yaml:3:1: error: this is not YAML"),
      ("levels: []\n", "c.yaml:1:9: error: “levels” needs at least one level"),
      ("name: x\n", "c.yaml:1:1: error: the configuration needs “levels”"),
      ("levels:\n  - memroy: {}\n", "c.yaml:2:5: error: there is no level “memroy”; did you mean “memory”?"),
      (
        "levels:\n  - memory: { capcity: 1 MiB }\n",
        "c.yaml:2:15: error: memory has no field “capcity”; did you mean “capacity”?"
      ),
      (
        "levels:\n  - memory: { capacity: 1 MeB }\n",
        "c.yaml:2:25: error: “capacity” of memory: “MeB” is not a unit of size"
      ),
      ("levels:\n  - memory: { capacity: -1 }\n", "c.yaml:2:25: error: “capacity” of memory: -1 is negative"),
      ("levels:\n  - memory: { capacity: 0 }\n", "a size is at least 1 byte"),
      ("levels:\n  - memory: { capacity: 99999999 TiB }\n", "is more than can be counted"),
      ("levels:\n  - memory: { expiry: 30 }\n", "“30” has no unit; use us, ms, s, m, h or d"),
      ("levels:\n  - memory: { policy: sieve }\n", "does not know the policy “sieve”; use lru"),
      ("levels:\n  - disk: { capacity: 4 MiB }\n", "c.yaml:2:5: error: disk needs “directory”"),
      ("levels:\n  - network: { url: \"ftp://x/{key}\" }\n", "begin it with http:// or https://"),
      ("levels:\n  - network: { url: \"http://x/\" }\n", "put {key} or {+key} into it"),
      ("levels:\n  - pooled: {}\n", "c.yaml:2:5: error: pooled needs a level inside"),
      ("levels:\n  - redis: {}\n", "this version does not know “redis” yet"),
      ("levels:\n  - memory: { name: a }\n  - memory: { name: a }\n", "c.yaml:3:5: error: the name “a” is taken"),
      ("levels:\n  - memory: { capacity: 1 MiB, capacity: 2 MiB }\n", "“capacity” is given twice"),
      ("levels:\n  - memory\nworkload: zpif\n", "there is no workload “zpif”; did you mean “zipf”?"),
      ("levels:\n  - memory\nlog: loud\n", "there is no log level “loud”"),
    ])
  func badInput(text: String, message: String) {
    let found = problems(text).joined(separator: "\n")
    #expect(found.contains(message), "\(found)")
  }

  @Test("all problems are told at once, in the order of their places")
  func severalProblems() {
    let found = problems("levels:\n  - memroy: {}\n  - memory: { capacity: x }\n  - disk: {}\n")
    #expect(found.count == 3)
    #expect(found.map { $0.split(separator: ":")[1] } == ["2", "3", "4"])
  }

  @Test("what is allowed but hardly meant is a warning")
  func lints() throws {
    func warnings(_ text: String) throws -> [String] { try read(text).warnings.map(\.message) }
    #expect(
      try warnings("levels: [memory: { expiry: 1h }, disk: { directory: d, expiry: 1m }]").first?.contains("longer")
        == true)
    #expect(try warnings("levels: [memory, origin]").first?.contains("not pooled") == true)
    #expect(try warnings("levels: [pooled: origin, memory]").first?.contains("below") == true)
    let large = try read("levels: [memory: { capacity: 3 GiB }]")
    #expect(ConfigurationLints.warnings(for: large, file: "c.yaml", memory: 4 << 30).count == 1)
  }

  @Test("files that are no configuration are told apart")
  func files() throws {
    let folder = try TemporaryFolder()
    func message(_ path: String) -> String {
      do {
        _ = try ConfigurationFile.load(path)
        return ""
      } catch { return error.description }
    }
    #expect(message(folder.url.path() + "/none.yaml").contains("there is no such file"))
    #expect(message(folder.url.path()).contains("this is a directory"))
    #expect(message(try folder.write("a\0b", to: "binary")).contains("not a text file"))
    #expect(message(try folder.write(String(repeating: "#", count: 2 << 20), to: "large")).contains("at most"))
    #expect(message(try folder.write("", to: "empty")).contains("empty"))
  }

  @Test("every demonstration and every example can be read, without a warning")
  func examples() throws {
    for demo in Demo.all { #expect(try demo.configuration(folder: "/tmp").warnings == []) }
    let folder = Program.root.appending(path: "Examples")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".yaml") }
    #expect(names.count >= 2)
    for name in names {
      #expect(try ConfigurationFile.load(folder.appending(path: name).path()).warnings == [], "\(name)")
    }
  }

  @Test("the configuration in the README is that of the example it names")
  func readme() throws {
    let readme = try String(contentsOf: Program.root.appending(path: "README.md"), encoding: .utf8)
    let block = try #require(
      readme.components(separatedBy: "```yaml\n").dropFirst().first?.components(separatedBy: "```").first)
    let example = try String(
      contentsOf: Program.root.appending(path: "Examples/memory-disk-network.yaml"), encoding: .utf8)
    #expect(example.hasSuffix(block))
    #expect(try read(block).allLevels.map(\.name) == ["memory", "disk", "pool", "network"])
  }
}
