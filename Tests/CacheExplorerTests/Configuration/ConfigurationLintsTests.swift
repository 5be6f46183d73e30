import Testing

@testable import CacheExplorer

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
      (
        "levels:\n  - network: { url: \"http://h/{key}\" }",
        ["2:5 network is slow and not pooled: simultaneous readers of one key each ask it"]
      ),
      (
        "levels:\n  - pooled: origin\n  - memory: {}",
        ["3:5 memory stands below origin and is asked only when that fails"]
      ),
      ("levels:\n  - memory: {}\n  - pooled: origin", []),
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
}
