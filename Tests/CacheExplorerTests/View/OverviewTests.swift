import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct OverviewTests {
  private let large = Size(width: 120, height: 40)
  private let small = Size(width: 80, height: 24)

  @Test("At 120x40 boxes, served by, entries, reads in flight, latencies, log, warning and keys are all there")
  func wideScreen() throws {
    try expect(Scene.busy(large), shows: wide, styledAs: "Overview120x40")
  }

  @Test("At 80x24 levels are a table, and log, reads in flight and latencies share a place")
  func smallScreen() throws {
    try expect(Scene.busy(small), shows: smallOverview, styledAs: "Overview80x24")
  }

  @Test("Reads that no level answered are told at every width", arguments: [40, 80, 120])
  func nothingServed(width: Int) {
    var scene = Scene(size: Size(width: width, height: 24))
    let statistics = CacheStatistics()
    for _ in 0..<100_000 {
      statistics.record(
        CacheEvent(
          time: scene.now, request: nil, level: nil, key: "k",
          kind: .requestEnded(.get, .miss(.absent), .microseconds(3))))
    }
    scene.send(.events([], lost: 100_000, counted: statistics.snapshot))
    scene.pass(.seconds(1))
    #expect(scene.lines.contains { $0.contains("served by —    missed 100 000") }, "\(scene.lines)")
  }

  @Test("A rate of many digits stands apart from the history before it")
  func highRates() throws {
    var scene = Scene(size: large)
    let statistics = CacheStatistics()
    for _ in 0..<8 {
      let before = statistics.snapshot
      for _ in 0..<10_848 {
        statistics.record(
          CacheEvent(
            time: scene.now, request: nil, level: "memory", key: "k",
            kind: .hit(cost: 1, deadline: nil, .microseconds(3))))
      }
      scene.send(.events([], lost: 10_848, counted: statistics.snapshot.since(before)))
      scene.pass(.seconds(1))
    }
    let line = try #require(scene.lines.first { $0.contains("│ hit ") })
    // The second under way is empty.
    #expect(line.contains("█· 10 848/s │"), "\(line)")
  }

  @Test("At 40x10 the levels and the command line remain")
  func leastScreen() throws {
    try expect(Scene.busy(Layout.smallest), shows: least, styledAs: "Overview40x10")
  }

  @Test("Before the first read there are dashes and advice, not zeros")
  func emptyScreen() throws {
    try expect(Scene(size: small), shows: empty, styledAs: "OverviewEmpty")
  }

  @Test("The help lists the keys by what they are for")
  func helpScreen() throws {
    var scene = Scene.busy(small)
    scene.press(.character("?"))
    try expect(scene, shows: help, styledAs: "Help")
  }

  @Test("A command is typed over the picture, with its usage beside it")
  func commandScreen() throws {
    var scene = Scene.busy(small)
    scene.press(.character(":"))
    scene.type("get user:9")
    scene.press(.tab)
    try expect(scene, shows: command, styledAs: "Command")
  }

  @Test("Frozen and zoomed: the picture stands still and says how far it is behind")
  func zoomedScreen() throws {
    var scene = Scene.busy(small)
    scene.press(.character(" "))
    scene.pass(.milliseconds(12_300))
    scene.press(.tab, .tab, .character("z"))
    try expect(scene, shows: zoom, styledAs: "Zoomed")
  }

  @Test("Below 40x10 one line says the size needed, and a larger window brings everything back")
  func tooSmall() throws {
    var scene = Scene.busy(Size(width: 39, height: 24))
    #expect(scene.lines.filter { !$0.isEmpty } == ["needs 40x10, q quits"])
    scene.send(.input(.resized(Size(width: 5, height: 1))))
    #expect(scene.lines == ["small"])
    scene.send(.input(.resized(small)))
    try expect(scene, shows: smallOverview, styledAs: "Overview80x24")
    #expect(scene.send(.input(.key(.character("q")))) == [.quit])
  }

  @Test("Below 40x10 nobody is told that q quits where it does not, and what is asked can be read")
  func tooSmallForQuestions() {
    var scene = Scene.busy(Size(width: 20, height: 5))
    func shown() -> [String] { scene.lines.filter { !$0.isEmpty } }
    scene.press(.character(":"))
    #expect(shown() == ["needs 40x10"])
    scene.press(.escape)
    scene.send(.workload("zipf"))
    scene.press(.character("q"))
    #expect(shown() == ["quit? y/N"])
    scene.press(.character("q"))
    #expect(shown() == ["needs 40x10, q quits"])
    scene.press(.character("q"))
    #expect(scene.send(.input(.key(.character("y")))) == [.quit])
  }

  private func expect(
    _ scene: Scene, shows text: String, styledAs name: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let expected = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let lines = scene.lines
    #expect(lines == expected, "\(lines.joined(separator: "\n"))", sourceLocation: location)
    try StyleGrid.expect(scene.canvas, isStyledAs: name, at: location)
  }

  @Test("Served by has no half words: what does not fit beside the shares is left out")
  func servedByWhole() {
    var scene = Scene.busy(Size(width: 40, height: 10))
    for _ in 0..<9 {
      let follower = scene.nextRequest()
      scene.event(.requestBegan(.get), key: "user:42", request: follower)
      scene.event(.flightJoined(callers: 2), level: "pool", key: "user:42", request: follower)
      scene.event(.requestEnded(.get, .hit(level: "origin"), .zero), key: "user:42", request: follower)
    }
    #expect(scene.lines.first { $0.hasPrefix(" served by") }?.contains("…") == false)
  }
}

private let wide = #"""
   CacheExplorer  demo.yaml  ● LIVE   3 req/s   hit 91.9% of 111, 5 s 100%   in flight 1   lost 0        12:03:23  ?:help
  ┌ 1 MEMORY ──────────────────── LRU 64 MiB ┐     ┌ 2 DISK ───────────────────────── 256 MiB ┐     ┌ ORIGIN ────────────┐
  │ hit   75.2%  ▇█▄▄▆▇█▄▄▆▇█▄▄▆▇█▲▂·· 2.4/s │═0.6▶│ hit   63.0%  ██·████·████·████·█·· 0.6/s │══0═▶│ 0/s ·············█ │
  │ miss  24.8%  ▂▂·▂▂▂▂·▂▂▂▂·▂▂▂▂▲▂·▂ 0.6/s │     │ miss  37.0%  ····················█   0/s │     │ 10 loads           │
  │ p50 18µs  p99 18µs  max 20µs             │     │ p50 1.1ms  p99 1.1ms  max 1.1ms          │     │ p50 82ms           │
  │ used ███████▏░░ 71%   45.4 MiB of 64 MiB │◀─0.6│ used █▊░░░░░░░ 19%   48.6 MiB of 256 MiB │◀──0─│ p99 82ms           │
  │ 1 204 keys  evict 0/s  expire 0/s        │     │ 8 410 keys  evict 0/s  expire 0/s        │     │ err 0.0%           │
  └ misses: absent 27, expired 1 ────────────┘     └ misses: absent 10 ───────────────────────┘     └────────────────────┘
   served by MEMORY 76.6% ██████████████████████████████████████████████████▌ DISK 15.3% ██████████▏ origin 8.1% █████▍
  ┌ Entries 1–9 of 9 ───────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐┌ In flight 1 ─────────── 3 callers joined ┐
  │ KEY                   M D      SIZE   AGE  TTL LEFT           HITS  LAST ││ KEY             AT      WAIT ELAPSED     │
  │▸user:42               ● ◐   4.1 KiB   20s  ██████████  60s      19  <5s  ││ img:logo        origin  ×4   ████ 412ms! │
  │ user:9113             ● ●   4.1 KiB   20s  █████████▌  55s      18  <5s  ││                                          │
  │ feed:home?page=1      ● ●   4.1 KiB   20s  █████████▌  55s      17  <5s  ││                                          │
  │ i18n/日本語           ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  │└──────────────────────────────────────────┘
  │ key\e[2J\u{202e}      ● ●   4.1 KiB   20s  ██████████  60s      16  <5s  │┌ Latency ──────────── since start · log x ┐
  │ search:"swift"        ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  ││       100n 10µ   1m   100m      p50   p99│
  │ img:hero@2x           ● ●   1.9 MiB   20s  ██████████  10m       0  20s  ││MEMORY       █                  18µs  18µs│
  │ cfg/flags             ● ●     9 KiB   20s  no expiry             0  20s  ││DISK              █            1.1ms 1.1ms│
  │ session:7f3a9e…12aa91 ✕ ✕     212 B   20s  expired <5s           0  20s  ││origin                 █        82ms  82ms│
  │                                                                          ││                                          │
  │                                                                          ││                                          │
  │                                                                          ││                                          │
  │                                                                          ││                                          │
  └──────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────┘
  ┌ Log ──────────────────────────────────────────────────────────────────────────────────────────── ≥ debug · following ┐
  │ 12:03:20.000 INFO  disk     expire session:11aa  swept=2 freed=424 B                                                 │
  │ 12:03:20.000 ERROR origin   timed out: img:logo after 3 attempts (2.9 s)                                        #102 │
  │ 12:03:20.000 WARN  memory   pressure: dropped 6 entries, 61.2 MiB, 1.3 ms                                            │
  │ 12:03:23.000 DEBUG memory   miss   img:logo   0.018 ms                                                          #131 │
  │ 12:03:23.000 INFO  pool     join   img:logo   callers=4                                                         #134 │
  │                                                                                                                      │
  │                                                                                                                      │
  │                                                                                                                      │
  │                                                                                                                      │
  └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
   ▲ MEMORY WARNING 12:03:20  MEMORY dropped 6 entries (61.2 MiB) in 1.3ms; hit rate 84% → 50%, recovering   Esc: dismiss
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

   ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
  """#

private let smallOverview = #"""
   CacheExplorer demo.yaml  ● LIVE  3/s  hit 91.9%  fly 1        12:03:23  ?:help
     LEVEL       HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
   1 MEMORY      75.2      3 █▄▅▆▇█▲▃·▂   18µs   18µs ██████▍░░  71%  1 204    0/s
   2 DISK        63.0    0.6 █·████·█·█  1.1ms  1.1ms █▊░░░░░░░  19%  8 410    0/s
     origin         —      0 ·········█   82ms   82ms err 0.0%            —      —
   served by M 76.6 ████████████████████████████████▏ D 15.3 ██████▍ o 8.1 ███▍
  ┌ Entries 1–6 of 9 ───────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
  │ KEY                       M D      SIZE   AGE  TTL LEFT           HITS  LAST │
  │▸user:42                   ● ◐   4.1 KiB   20s  ██████████  60s      19  <5s  │
  │ user:9113                 ● ●   4.1 KiB   20s  █████████▌  55s      18  <5s  │
  │ feed:home?page=1          ● ●   4.1 KiB   20s  █████████▌  55s      17  <5s  │
  │ i18n/日本語               ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  │
  │ key\e[2J\u{202e}          ● ●   4.1 KiB   20s  ██████████  60s      16  <5s  │
  │ search:"swift"            ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  │
  └──────────────────────────────────────────────────────────────────────────────┘
  ┌ [Log] In flight Latency ──────────────────────────────── ≥ debug · following ┐
  │ 20.000 ERROR origin   timed out: img:logo after 3 attempts (2.9 s)      #102 │
  │ 20.000 WARN  memory   pressure: dropped 6 entries, 61.2 MiB, 1.3 ms          │
  │ 23.000 DEBUG memory   miss   img:logo   0.018 ms                        #131 │
  │ 23.000 INFO  pool     join   img:logo   callers=4                       #134 │
  └──────────────────────────────────────────────────────────────────────────────┘
   ▲ WARNING 12:03:20  MEMORY −61.2 MiB; hit 84% → 50%, recovering   Esc: dismiss
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#

private let least = #"""
   demo.yaml  ● LIVE     12:03:23  ?:help
     LEVEL       HIT%  REQ/S    p50    p99
   1 MEMORY      75.2      3   18µs   18µs
   2 DISK        63.0    0.6  1.1ms  1.1ms
     origin         —      0   82ms   82ms
   served by M 76.6 █▌ D 15.3 ▎ o 8.1 ▏



   : types a command   get KEY · set KEY …
  """#

private let empty = #"""
   CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
     LEVEL       HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
   1 MEMORY         —      — ··········      —      — —                   —      —
   2 DISK           —      — ··········      —      — —                   —      —
     origin         —      — ··········      —      — err —               —      —
   served by —  no reads yet
  ┌ Entries 0 ──────────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
  │ KEY                       M D      SIZE   AGE  TTL LEFT           HITS  LAST │
  │ nothing is cached yet   :set KEY VALUE stores, :get KEY reads                │
  │                                                                              │
  │                                                                              │
  │                                                                              │
  │                                                                              │
  │                                                                              │
  │                                                                              │
  └──────────────────────────────────────────────────────────────────────────────┘
  ┌ [Log] In flight Latency ──────────────────────────────── ≥ debug · following ┐
  │ no lines yet                                                                 │
  │                                                                              │
  │                                                                              │
  │                                                                              │
  └──────────────────────────────────────────────────────────────────────────────┘
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#

private let help = #"""
   CacheExplorer demo.yaml  ● LIVE  3/s  hit 91.9%  fly 1        12:03:23  ?:help
  ┌ Help · Overview ──────────────────────────────────────── ↓ more · Esc closes ┐
  │ Move                                                                         │
  │   Tab            focus the next panel                                        │
  │   S-Tab          focus the previous panel                                    │
  │   → l            focus the next panel; in a level's history: a second on     │
  │   ← h            focus the previous panel; in a level's history: a second    │
  │                  back                                                        │
  │   ↑ k            one row up                                                  │
  │   ↓ j            one row down                                                │
  │   PgUp           one page up                                                 │
  │   PgDn           one page down                                               │
  │   g Home         first row                                                   │
  │   G End          last row; the log follows again                             │
  │ Look                                                                         │
  │   /              filter the keys (!text inverts); in the log and in this     │
  │                  help: search                                                │
  │   Enter          look closely: at the request, the second, or what a line    │
  │                  leads to                                                    │
  │   Esc Backspace  back: close, leave zoom, clear the filter, dismiss the      │
  └──────────────────────────────────────────────────────────────────────────────┘
   ▲ WARNING 12:03:20  MEMORY −61.2 MiB; hit 84% → 50%, recovering   Esc: dismiss
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#

private let command = #"""
   CacheExplorer demo.yaml  ● LIVE  3/s  hit 91.9%  fly 1        12:03:23  ?:help
     LEVEL       HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
   1 MEMORY      75.2      3 █▄▅▆▇█▲▃·▂   18µs   18µs ██████▍░░  71%  1 204    0/s
   2 DISK        63.0    0.6 █·████·█·█  1.1ms  1.1ms █▊░░░░░░░  19%  8 410    0/s
     origin         —      0 ·········█   82ms   82ms err 0.0%            —      —
   served by M 76.6 ████████████████████████████████▏ D 15.3 ██████▍ o 8.1 ███▍
  ┌ Entries 1–6 of 9 ───────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
  │ KEY                       M D      SIZE   AGE  TTL LEFT           HITS  LAST │
  │▸user:42                   ● ◐   4.1 KiB   20s  ██████████  60s      19  <5s  │
  │ user:9113                 ● ●   4.1 KiB   20s  █████████▌  55s      18  <5s  │
  │ feed:home?page=1          ● ●   4.1 KiB   20s  █████████▌  55s      17  <5s  │
  │ i18n/日本語               ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  │
  │ key\e[2J\u{202e}          ● ●   4.1 KiB   20s  ██████████  60s      16  <5s  │
  │ search:"swift"            ● ●   4.1 KiB   20s  █████████▌  55s      16  <5s  │
  └──────────────────────────────────────────────────────────────────────────────┘
  ┌ [Log] In flight Latency ──────────────────────────────── ≥ debug · following ┐
  │ 20.000 ERROR origin   timed out: img:logo after 3 attempts (2.9 s)      #102 │
  │ 20.000 WARN  memory   pressure: dropped 6 entries, 61.2 MiB, 1.3 ms          │
  │ 23.000 DEBUG memory   miss   img:logo   0.018 ms                        #131 │
  │ 23.000 INFO  pool     join   img:logo   callers=4                       #134 │
  └──────────────────────────────────────────────────────────────────────────────┘
   ▲ WARNING 12:03:20  MEMORY −61.2 MiB; hit 84% → 50%, recovering   Esc: dismiss
   :get user:9113    get KEY [--level L] — read through the levels
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#

private let zoom = #"""
   CacheExplorer demo.yaml  ‖ PAUSED · 0 events behind  3/s      12:03:23  ?:help
  ┌ Latency · all ─────────── a: all · since start · log x, log counts · ↵ worst ┐
  │ MEMORY      n 113  p50 18µs  p90 18µs  p99 18µs  p99.9 20µs  max 20µs        │
  │                    █                                                         │
  │                    █                                                         │
  │                    █                                                         │
  │                    █                                                         │
  │ DISK        n 27  p50 1.1ms  p90 1.1ms  p99 1.1ms  p99.9 1.1ms  max 1.1ms    │
  │                                   █                                          │
  │                                   █                                          │
  │                                   █                                          │
  │                                   █                                          │
  │ origin      n 9  p50 82ms  p90 82ms  p99 82ms  p99.9 82ms  max 82ms          │
  │                                                  █                           │
  │                                                  █                           │
  │                                                  █                           │
  │                                                  █                           │
  │ 100n    1µ      10µ      100µ    1m       10m     100m     1s      10s       │
  │                                                                              │
  │                                                                              │
  └──────────────────────────────────────────────────────────────────────────────┘
   ▲ WARNING 12:03:20  MEMORY −61.2 MiB; hit 84% → 50%, recovering   Esc: dismiss
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#
