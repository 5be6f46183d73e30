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
    Demo(
      name: "operators",
      caption: "every operator at work: lanes, stale answers, a cap, retries and a breaker over a source that fails",
      yaml: #"""
        name: operators
        levels:
          - memory: { capacity: 24 KiB, expiry: 3s }
          - lanes:
              when: { matches: "[02468]$" }
              then:
                stale:
                  whileRevalidate: 6s
                  ifError: 1m
                  level:
                    expiry:
                      after: 5s
                      level:
                        transformKeys:
                          with: [{ template: "v1/{key}.txt" }]
                          level:
                            transformValues:
                              with: [gzip, base64]
                              level: { disk: { directory: disk, capacity: 4 MiB, keepExpired: 1m } }
                  from:
                    pooled:
                      retry:
                        attempts: 3
                        delay: 200ms
                        level:
                          breaker:
                            failures: 3
                            reset: 5s
                            level:
                              timeout:
                                after: 900ms
                                level:
                                  capped:
                                    limit: 2
                                    level:
                                      origin: { name: api, latency: 100ms..1s, failures: 30%, size: 1 KiB..2 KiB, seed: 7 }
              else:
                - conditioned:
                    when: { not: { suffix: "9" } }
                    level: { memory: { name: recent, count: 20, expiry: 6s } }
                - fallback:
                    value: "(nothing there)"
                    level:
                      negative:
                        for: 8s
                        level:
                          postProcess:
                            with: uppercase
                            level:
                              pooled:
                                origin: { name: archive, latency: 20ms..200ms, missing: 20%, size: 512 B..1 KiB, seed: 3 }
        workload: { name: zipf, rate: 14, keys: 60 }
        """#),
    Demo(
      name: "models", caption: "a live store of models with relations and observers: press 7, then Tab and Enter",
      yaml: """
        name: models
        models: demo
        levels:
          - memory: { capacity: 64 KiB, expiry: 30s }
          - pooled:
              origin: { latency: 20ms..80ms, size: 1 KiB, seed: 7 }
        workload: { name: zipf, rate: 4, keys: 30 }
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
