package import ExplorerCommands
package import ExplorerConfiguration
import ExplorerState
import ExplorerText

/// The demonstrations that are built into the program.
package struct Demo: Sendable {
  package let name: String
  /// What it shows, in one line.
  package let caption: String
  /// Whether it is asked over HTTP, by visitors of its own.
  package let isServed: Bool
  private let yaml: String
  /// A moment a line: when, and what to look at, or `:` and a command.
  private let script: String

  private init(name: String, caption: String, isServed: Bool = false, yaml: String, script: String) {
    self.name = name
    self.caption = caption
    self.isServed = isServed
    self.yaml = yaml
    self.script = script
  }

  package static let all = [
    Demo(
      name: "stack", caption: "memory over disk over a slow origin: values climb, expire and come back",
      yaml: """
        name: demo
        levels:
          - memory: { capacity: 96 KiB, expiry: 20s }
          - disk: { directory: disk, capacity: 4 MiB, expiry: 2m }
          - pooled:
              origin: { latency: 40ms..200ms, failures: 1%, size: 1 KiB..8 KiB, seed: 7 }
        workload: { name: zipf, rate: 12, keys: 60 }
        """,
      script: """
        0s   At first everything comes from the origin, and copies go up: watch the arrows
        12s  "served by": memory answers more and more, the origin less
        25s  After 20 s memory's copies expire: the disk answers, and fills memory again
        40s  : speed 0.2
        40s  A fifth of the speed: follow individual reads in the log
        44s  : speed 1
        44s  Back to normal speed
        60s  : del key:0
        60s  The favourite key is gone: only its next reader waits for the origin
        75s  : expire --all
        75s  Everything has expired: watch the origin's load rise and fall again
        95s  : run zipf --rate 80 --keys 60
        95s  More readers: the share of memory grows with the rate
        110s : run zipf --rate 12 --keys 60
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "herd", caption: "many callers want one key at once: the pool turns them into one request",
      yaml: """
        name: herd
        levels:
          - memory: { capacity: 64 KiB, expiry: 2s }
          - pooled:
              origin: { latency: 300ms..700ms, size: 4 KiB, seed: 7 }
        workload: { name: burst, rate: 60, key: "home/feed" }
        """,
      script: """
        0s   Sixty readers a second want one key, which lives for two seconds in memory
        8s   Each time it expires, all wait for one load: "in flight" shows how many
        20s  : fault origin latency 2s..3s
        20s  The origin is slow now: a hundred and more share a load
        45s  : run burst --rate 400 --key home/feed
        45s  Four hundred readers a second, and still one load at a time
        70s  : fault origin error 50%
        70s  Half of the loads fail, for all who share them; the next reader tries again
        90s  : fault origin off
        90s  The origin has recovered
        100s : run zipf --rate 60 --keys 50
        100s Many keys: hardly anybody shares a load, and memory does the work
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "stale", caption: "expiry, and answers that are served although they have expired",
      yaml: """
        name: stale
        levels:
          - stale:
              whileRevalidate: 10s
              ifError: 1m
              level: { memory: { capacity: 1 MiB, expiry: 6s, keepExpired: 1m } }
              from: { pooled: { origin: { latency: 200ms..600ms, size: 2 KiB, seed: 7 } } }
        workload: { name: zipf, rate: 15, keys: 30 }
        """,
      script: """
        0s   Values live for six seconds: TTL LEFT in the entries runs down
        10s  Expired values are served at once (≈) and refreshed meanwhile: nobody waits
        30s  : fault origin down
        30s  The origin is down: for a minute, expired values are better than nothing
        60s  The errors are failed refreshes; readers still get their answers
        75s  : fault origin off
        75s  The origin is back: the next reads refresh everything
        90s  : advance 30s
        90s  Half a minute passes at once: values are too old to serve, so readers wait
        105s : speed 0.5
        105s Half the speed: watch ≈ come and go
        115s : speed 1
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "warning", caption: "a memory warning: what it removes, what that costs, and how soon it is over",
      yaml: """
        name: warning
        levels:
          - memory: { capacity: 2 MiB, expiry: 10m }
          - disk: { directory: disk, capacity: 8 MiB, expiry: 30m }
          - pooled:
              origin: { latency: 50ms..150ms, size: 4 KiB, seed: 7 }
        workload: { name: zipf, rate: 60, keys: 300 }
        """,
      script: """
        0s   Memory fills: most reads are hits after a while
        30s  : warn
        30s  A memory warning: the banner shows its cost, ▲ marks the second
        35s  The disk serves what memory lost: nothing has to come from the origin again
        60s  : fault disk down
        60s  Without its disk the cache depends on the origin
        65s  : warn critical
        65s  The same warning now costs loads: compare "served by"
        90s  : fault disk off
        90s  The disk is back; writes fill it again
        100s : warn
        100s Once more: the hit rate dips less, and recovers sooner
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "disk", caption: "a disk that fills up: what is evicted, and what a scan does to it",
      yaml: """
        name: disk
        levels:
          - memory: { capacity: 64 KiB, expiry: 30s }
          - disk: { directory: disk, capacity: 1 MiB, expiry: 1h }
          - pooled:
              origin: { latency: 5ms..30ms, size: 8 KiB, seed: 7 }
        workload: { name: zipf, rate: 30, keys: 100 }
        """,
      script: """
        0s   A hundred values of 8 KiB fit on the disk: USED grows and stays
        25s  : run scan --rate 60
        25s  A scan asks for new keys only: the disk is full within seconds, and evicts
        50s  : run zipf --rate 30 --keys 100
        50s  The favourites were evicted: they have to come from the origin again
        75s  : clear disk
        75s  The disk is empty: memory still answers for the hottest keys
        95s  : run loop --rate 60 --keys 150
        95s  A loop larger than the disk: each key is evicted just before it is asked for
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "scan", caption: "LRU against S3-FIFO: which one keeps its favourites when a scan comes by",
      yaml: #"""
        name: scan
        levels:
          - lanes:
              when: { matches: "[02468]$" }
              then:
                - memory: { name: lru, capacity: 100 KiB, policy: lru }
                - pooled: { origin: { name: even, latency: 5ms..20ms, size: 2 KiB, seed: 7 } }
              else:
                - memory: { name: s3fifo, capacity: 100 KiB, policy: s3fifo }
                - pooled: { origin: { name: odd, latency: 5ms..20ms, size: 2 KiB, seed: 7 } }
        workload: { name: uniform, rate: 60, keys: 60 }
        """#,
      script: """
        0s   Even keys go to LRU, odd ones to S3-FIFO; each has room for fifty values
        20s  Both have all their favourites: nearly every read is a hit
        40s  : run scan --rate 200 --requests 1200
        40s  A scan: keys that nobody will ask for again push out what LRU holds
        46s  : run uniform --rate 60 --keys 60
        46s  The favourites again: S3-FIFO kept them, the scan saw only its small queue
        70s  : run scan --rate 200 --requests 1200
        70s  Another scan: compare the evictions of both
        76s  : run uniform --rate 60 --keys 60
        76s  And how fast each recovers
        100s : status
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "faults", caption: "a level that fails, is slow or is down: the cache goes on without it",
      yaml: """
        name: faults
        levels:
          - memory: { capacity: 64 KiB, expiry: 5s }
          - disk: { directory: disk, capacity: 4 MiB, expiry: 10m }
          - breaker:
              failures: 5
              reset: 5s
              level:
                pooled:
                  origin: { latency: 20ms..60ms, size: 2 KiB, seed: 7 }
        workload: { name: zipf, rate: 40, keys: 120 }
        """,
      script: """
        0s   All is well: memory, disk and origin share the work
        15s  : fault disk error 20%
        15s  A fifth of the disk's answers fail: the origin steps in, and nobody notices
        35s  : fault disk latency 300ms
        35s  The disk is slow as well: its p99 rises, memory's does not
        55s  : fault disk down
        55s  The disk is down: the origin takes over
        70s  : fault origin down
        70s  Both are down: the breaker opens, and memory is all there is
        90s  : fault origin off
        90s  The origin is back: the breaker lets one trial through and closes
        100s : fault disk off
        100s All is well again
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "operators",
      caption: "every operator at work: lanes, stale answers, a cap, retries and a breaker",
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
        """#,
      script: """
        0s   Even keys go to a source that fails often, odd ones to an archive: two lanes
        12s  Three failures in a row open the breaker; "stale" serves what has expired (≈)
        25s  : run burst --key key:2 --requests 400
        25s  Everybody wants one key: the pool makes one load of them
        35s  : run uniform --rate 60
        35s  More loads than the cap lets through: they queue at "capped"
        60s  : run zipf --rate 14 --keys 60
        60s  Back to the usual: retries and fallbacks cover what fails
        80s  : fault archive down
        80s  The archive is down: "fallback" answers in its place
        100s : fault archive off
        100s The archive has recovered
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "models", caption: "a store of models with relations and observers: press 7, then Tab and Enter",
      yaml: """
        name: models
        models: demo
        levels:
          - memory: { capacity: 64 KiB, expiry: 30s }
          - pooled:
              origin: { latency: 20ms..80ms, size: 1 KiB, seed: 7 }
        workload: { name: zipf, rate: 4, keys: 30 }
        """,
      script: """
        0s   Models point to each other: press 7, then Tab and Enter walk their relations
        20s  Observers hear when a model, or what it leads to, changes: see the counts
        50s  The levels of the cache go on beside it: 1 leads back to them
        70s  : run burst --key news --requests 200
        70s  A herd wants one key that nobody has; the models do not notice
        80s  : run zipf --rate 4 --keys 30
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "whatif",
      caption: "what would another capacity or policy bring? estimated from traffic: press 8",
      yaml: """
        name: whatif
        levels:
          - memory: { capacity: 200 KiB, policy: lru }
          - pooled:
              origin: { latency: 1ms..4ms, size: 1 KiB, seed: 7 }
        workload: { name: zipf, rate: 200, keys: 1000 }
        """,
      script: """
        0s   : whatif
        0s   Small caches without values run beside the real one, one for each question
        20s  “now” is counted, the rest estimated: what half or twice the room would bring
        38s  : whatif
        38s  ▸ says what helps and costs least: another policy is free, so it comes first
        42s  : run uniform --rate 200 --keys 400
        42s  Now four hundred keys, all equally likely: no policy can tell them apart
        50s  : whatif --reset
        50s  Counting starts over, from what the small caches hold by now
        74s  : whatif
        74s  Now only room helps: with twice as much, all of them fit
        80s  : run uniform --rate 200 --keys 80
        80s  Eighty keys in room for two hundred
        86s  : whatif --reset
        110s : whatif
        110s No change helps, and half the room would do: that can be given back
        120s That was all; the workload goes on, and every key works
        """),
    Demo(
      name: "http",
      caption: "a web server behind a caching proxy: which answers are kept, and why not",
      isServed: true,
      yaml: """
        name: http
        levels:
          - memory: { capacity: 512 KiB }
          - disk: { directory: disk, capacity: 8 MiB }
        """,
      script: """
        0s   Every request, and what the cache did: the server says how long answers live
        8s   / lives for five seconds; then the server says 304: “validated”, and no bytes
        20s  /live/1 is new, and twelve want it at once: one is asked for, the others wait
        30s  /news is served stale while it is refreshed: nobody waits for the new one
        38s  /hello has a variant for each language (Vary): Enter on its row shows them
        46s  /account is private, /basket no-store: never kept, and the answer says why
        54s  /rates fails now and then: the last good answer stands in (stale-if-error)
        60s  The server is gone: what is stored stands in, and only the rest is an error
        75s  The server is back: what is too old is asked for again
        85s  An editor posts to /news: whatever was stored for it is gone at once
        95s  : clear memory
        95s  Memory is empty, the disk answers: 1 shows the levels, 9 leads back here
        105s : status
        120s That was all; the visitors go on, and every key works
        """),
  ]

  package static func named(_ name: String) -> Demo? { all.first { $0.name == name } }

  /// The demo as a configuration whose disk level writes below a folder.
  ///
  /// A test checks that it can be read.
  package func configuration(folder: String) throws(ConfigurationFailure) -> CacheConfiguration {
    try ConfigurationReader.read(yaml, file: "demo \(name)", folder: folder)
  }

  /// The moments in their order.
  ///
  /// That each can be read is tested.
  package func steps() throws -> [DemoStep] {
    try script.split(separator: "\n").map { line in
      let words = line.split(separator: " ", maxSplits: 1)
      let text = words.count > 1 ? String(words[1]).trimmingSpaces : ""
      let isCommand = text.hasPrefix(": ")
      return try DemoStep(
        at: try Quantity.duration(String(words[0])), caption: isCommand ? nil : text,
        line: isCommand ? String(text.dropFirst(2)) : nil)
    }
  }
}
