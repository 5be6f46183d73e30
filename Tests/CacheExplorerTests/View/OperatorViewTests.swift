import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct OperatorViewTests {
  @Test("At 200x60 lanes are branches of boxes, with the operators in gates before what they hold")
  func boxes() throws {
    expect(try OperatorScene.busy(Size(width: 200, height: 60)), rows: 1...17, show: boxesShown)
  }

  @Test("At 120x40 lanes that fit are boxes above one another")
  func smallBoxes() throws {
    expect(
      try OperatorScene.busy(Size(width: 120, height: 40), OperatorScene.twoLanes), rows: 1...13, show: lanesShown)
  }

  @Test("At 120x40 operators that hold one another share a row, and what they hold is indented")
  func tree() throws {
    expect(try OperatorScene.busy(Size(width: 120, height: 40)), rows: 1...14, show: treeShown)
  }

  @Test("At 80x24 everything is still there, and the focus has a panel")
  func narrow() throws {
    expect(try OperatorScene.busy(Size(width: 80, height: 24)), rows: 0...23, show: narrowShown)
  }

  @Test("With room for it every operator has a row of its own")
  func full() throws {
    expect(try OperatorScene.busy(Size(width: 100, height: 60)), rows: 1...23, show: fullShown)
  }

  @Test("At 40x10 as many rows as fit are there, and the last says what is missing")
  func least() throws {
    expect(try OperatorScene.busy(Layout.smallest), rows: 1...9, show: leastShown)
  }

  @Test("A breaker counts down to its trial, is half open while it tries, and closes")
  func breaker() throws {
    var scene = try OperatorScene.busy(Size(width: 100, height: 60))
    func line() -> String { scene.lines.first { $0.contains("breaker") } ?? "" }
    #expect(line().contains("✕ OPEN, trial 18s"))
    scene.pass(.seconds(17))
    #expect(line().contains("✕ OPEN, trial 1s"))
    scene.pass(.seconds(2))
    #expect(line().contains("✕ OPEN, trial next"))
    scene.event(.operated(.circuit(.halfOpen)), level: "breaker")
    #expect(line().contains("◐ half-open"))
    scene.event(.operated(.circuit(.closed)), level: "breaker")
    #expect(line().contains("● closed"))
    #expect(line().contains("opened ×1"))
  }

  @Test("A stale entry is marked in the list, and its level counts it")
  func stale() throws {
    let lines =
      try OperatorScene.busy(Size(width: 160, height: 60)).lines
      + OperatorScene.busy(Size(width: 200, height: 60)).lines
    #expect(lines.contains { $0.contains("v1/img:1 ") && $0.contains("≈ stale 10s") })
    #expect(lines.contains { $0.contains("≈ stale 1 ") })
    #expect(lines.contains { $0.contains("≈ stale") && $0.contains("✕ expired") })
  }

  private func expect(
    _ scene: Scene, rows: ClosedRange<Int>, show text: String, at location: SourceLocation = #_sourceLocation
  ) {
    let lines = Array(scene.lines[rows])
    let expected = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines == expected, "\n\(lines.joined(separator: "\n"))", sourceLocation: location)
  }
}

private let boxesShown = #"""
  ┌ 1 MEMORY ──────────── ADAPTIVE 1 MiB ┐     ╭─▶ ◇ prefix img:  0/s
  │ hit    0.0%  ·················   0/s │══0═▶┤  ╭──────────────────────────────╮  ╭────────────────────────────╮  ┌ 2 DISK ────────────── 4 MiB ┐ ╮     ╭──────────────────────────────╮  ┌ 3 API ─────┐
  │ miss   100%  ▃███▆············   0/s │     │  │ stale for 6s, if…  ≈ 1 stale │═▶│ expires after 5s           │═▶│ hit    0.0%  ········   0/s │ │══0═▶│ pool     5 callers on 1 load │═▶│ 0/s ······ │
  │ p50 20µs  p99 20µs  max 20µs         │     │  │                              │  │ keys v1/…                  │  │ miss   100%  ········   0/s │ │     │ retry ×3       2 tried again │  │ 1 load     │
  │ used █████████████████▍░░░░░░░░ 67%  │◀──0─│  │                              │  │ values gzip › base64       │  │ p50 90µs  p99 90µs          │ │     │ breaker    ✕ OPEN, trial 18s │  │ p50 —      │
  │ 12 keys  evict 0/s  expire 0/s       │     │  │                              │◀─│                            │◀─│ used —                      │ │◀──0─│ timeout 2s       1 timed out │◀─│ p99 —      │
  └ misses: absent 12 ───────────────────┘     │  │                              │  │                            │  │ evict 0/s  expire 0/s       │ │     │ cap          2/2 run, 4 wait │  │ err —      │
                                               │  ╰──────────────────────────────╯  ╰────────────────────────────╯  └ ≈ stale 1 · misses: expire… ┘ ╯     ╰──────────────────────────────╯  └────────────┘
                                               ╰─▶ ◇ else  —
                                                  ╭─────────────────────────────────────────╮  ┌ 4 RECENT ─────────── ADAPTIVE 50 MiB ┐ ╮     ╭───────────────────────────────╮  ┌ 5 ARCHIVE ─ simulated ┐
                                                  │ no-dots: when not contains .  1 refused │═▶│ hit       —  ·················     — │ │════▶│ fallback         1 stepped in │═▶│ — ··················· │
                                                  │                                         │  │ miss      —  ·················     — │ │     │ negative for 8s  1 remembered │  │ 0 loads               │
                                                  │                                         │  │ p50 —  p99 —  max —                  │ │     │ read as uppercase             │  │ p50 —                 │
                                                  │                                         │◀─│ used —                               │ │◀────│ pool                          │◀─│ p99 —                 │
                                                  │                                         │  │ evict —  expire —  sets 0            │ │     │                               │  │ err —                 │
                                                  ╰─────────────────────────────────────────╯  └──────────────────────────────────────┘ ╯     ╰───────────────────────────────╯  └───────────────────────┘
   served by —    fallback 1
  """#

private let lanesShown = #"""
  ┌ 1 MEMORY ────────────── ADAPTIVE 1 MiB ┐     ╭─▶ ◇ suffix .png  —
  │ hit    0.0%  ···················   0/s │════▶┤  ┌ IMAGES ─────────────────────────────────────────── simulated ┐
  │ miss   100%  ··▃███▆············   0/s │     │  │ — ·························································· │
  │ used 67%  12 keys  p50 20µs  p99 20µs  │◀──0─│  │ 0 loads  err —                                               │
  └ misses: absent 12 ─────────────────────┘     │  │ p50 —  p99 —  max —                                          │
                                                 │  └ pooled ×5 ───────────────────────────────────────────────────┘
                                                 ╰─▶ ◇ else  —
                                                    ╭──────────────────────────────────────────╮  ┌ REST ───── simulated ┐
                                                    │ cap                      2/3 run, 4 wait │═▶│ — ·················· │
                                                    │                                          │  │ 0 loads  err —       │
                                                    │                                          │◀─│ p50 —  p99 —  max —  │
                                                    ╰──────────────────────────────────────────╯  └──────────────────────┘
   served by —  no reads yet
  """#

private let treeShown = #"""
     LEVEL              HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
   1 MEMORY              0.0      0 ··········   20µs   20µs ██████░░░  67%     12    0/s
     ◇ prefix img:  0/s
     └ stale for 6s, if error 1m  ≈ 1 stale  ⟳ 1 refreshing  2 refreshed  1 failed
       ├ expires after 5s › keys v1/… › values gzip › base64
   2   │ └ DISK    ≈1    0.0      0 ··········   90µs   90µs —                   —    0/s
       └ pool ×5 › retry ×2 › breaker ✕ OPEN 18s › timeout ×1 › cap 2/2 +4
   3     └ api             —      0 ··········      —      — err —               —      —
     ◇ else  —
     ├ no-dots: when not contains .  1 refused
   4 │ └ RECENT            —      — ··········      —      — —                   —      —
     └ fallback 1 stepped in › negative for 8s 1 remembered › read as uppercase › pool
   5   └ archive           —      — ··········      —      — err —               —      —
   served by —    fallback 1
  """#

private let narrowShown = #"""
   CacheExplorer demo.yaml  ● LIVE  0/s  hit 0.0%  fly 1         12:03:16  ?:help
     LEVEL              HIT%  REQ/S    p50    p99 USED             KEYS  EVICT
   1 MEMORY              0.0      0   20µs   20µs ██████░░░  67%     12    0/s
     ◇ prefix img:  0/s
     └ stale for 6s, if error 1m  ≈ 1 stale  ⟳ 1 refreshing  2 refreshed
       ├ expires after 5s › keys v1/… › values gzip › base64
   2   │ └ DISK    ≈1    0.0      0   90µs   90µs —                   —    0/s
       └ pool ×5 › retry ×2 › breaker ✕ OPEN 18s › timeout ×1 › cap 2/2 +4
   3     └ api             —      0      —      — err —               —      —
     ◇ else  —
     ├ no-dots: when not contains .  1 refused
   4 │ └ RECENT            —      —      —      — —                   —      —
     └ fallback ×1 › negative ×1 › read as › pool
   5   └ archive           —      —      —      — err —               —      —
   served by —    fallback 1
  ┌ Entries 1–4 of 12 ──────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ≈ stale ┐
  │ KEY                     1 2 4      SIZE   AGE  TTL LEFT           HITS  LAST │
  │▸v1/img:1                · ≈ ·     900 B   10s  ≈ stale 10s           1  10s  │
  │ v1/img:0                · ✕ ·     900 B   10s  expired 10s           0  10s  │
  │ v1/img:2                · ✕ ·     900 B   10s  expired 10s           0  10s  │
  │ v1/img:3                · ✕ ·     900 B   10s  expired 10s           0  10s  │
  └──────────────────────────────────────────────────────────────────────────────┘
   : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
   ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
  """#

private let fullShown = #"""
     LEVEL                    HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
   1 MEMORY                    0.0      0 ··········   20µs   20µs ██████░░░  67%     12    0/s
     ◇ prefix img:  0/s
     └ stale for 6s, if error 1m  ≈ 1 stale  ⟳ 1 refreshing  2 refreshed  1 failed
       ├ expires after 5s
       │ └ keys v1/…
       │   └ values gzip › base64
   2   │     └ DISK      ≈1    0.0      0 ··········   90µs   90µs —                   —    0/s
       └ pool               5 callers on 1 load  1 joined
         └ retry ×3         2 tried again
           └ breaker at 3   ✕ OPEN, trial 18s  opened ×1
             └ timeout 2s   1 timed out
               └ cap        2/2 run, 4 wait  1 had to wait
   3             └ api           —      0 ··········      —      — err —               —      —
     ◇ else  —
     ├ no-dots: when not contains .  1 refused
   4 │ └ RECENT                  —      — ··········      —      — —                   —      —
     └ fallback             1 stepped in
       └ negative for 8s    1 remembered
         └ read as uppercase
           └ pool
   5         └ archive           —      — ··········      —      — err —               —      —
   served by —    fallback 1
  """#

private let leastShown = #"""
     LEVEL          HIT%  REQ/S    p50
   1 MEMORY          0.0      0   20µs
     ◇ prefix img:  0/s
     └ stale for 6s, if error…  ≈ 1 stale
       ├ expires › keys › values
   2   │ └ DISK      0.0      0   90µs
       └ pool › retry › breaker ✕ OPEN 1…
     … 6 more rows: enlarge the window
   : types a command   get KEY · set KEY …
  """#
