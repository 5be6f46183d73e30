/// The demonstrations that are built into the program.
struct Demo: Sendable {
  let name: String
  /// What to look at, in one line.
  let caption: String
  private let yaml: String

  static let all = [
    Demo(
      name: "stack", caption: "memory over disk over a slow origin: watch values climb, expire and come back",
      yaml: """
        name: demo
        levels:
          - memory: { capacity: 96 KiB, expiry: 20s }
          - disk: { directory: disk, capacity: 4 MiB, expiry: 2m }
          - pooled:
              origin: { latency: 40ms..200ms, failures: 1%, size: 1 KiB..8 KiB, seed: 7 }
        workload: { name: zipf, rate: 12, keys: 60 }
        """),
    Demo(
      name: "herd", caption: "many callers want one key at once: the pool makes one request of them",
      yaml: """
        name: herd
        levels:
          - memory: { capacity: 64 KiB, expiry: 2s }
          - pooled:
              origin: { latency: 300ms..700ms, size: 4 KiB, seed: 7 }
        workload: { name: burst, rate: 60, key: "home/feed" }
        """),
  ]

  static func named(_ name: String) -> Demo? { all.first { $0.name == name } }

  /// The demo as a configuration whose disk level writes below a folder.
  ///
  /// That it can be read is tested.
  func configuration(folder: String) throws(ConfigurationFailure) -> CacheConfiguration {
    try ConfigurationReader.read(yaml, file: "demo \(name)", folder: folder)
  }
}
