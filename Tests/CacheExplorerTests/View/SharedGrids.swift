#if Explorer
import Testing

@testable import ExplorerModel
@testable import ExplorerState

/// The screens of what processes share, whole.
enum SharedGrids {
  static let all: [String: String] = [
    "Fleet120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE   — req/s   hit —   in flight 0   lost 0                             12:03:00  ?:help
    ┌ Fleet 1–2 of 2 ───────────────────────────────── sort CHANGED▼ ┐┌ Apps 3 ────── Enter shows one on the other screens ┐
    │ KEY                1 ONE   2 TWO 3 THREE        CHANGED    TOLD││▸1 one 100  ● hears  hit — of 0                     │
    │▸item:1               10s       ·      8s     1 one   5s       …││   told 0  never stale  loads 1 waits 0             │
    │ quiet                10s       ·       ·                       ││ 2 two 101  ● hears  hit — of 0                     │
    │                                                                ││   told 1 ≤ 2ms  never stale  loads 0 waits 1       │
    │                                                                ││ 3 three 102  ● hears  hit 100% of 1                │
    │                                                                ││   told 0  stale 1 ≤ 50ms                           │
    │                                                                ││                                                    │
    │                                                                ││ ⟳ news loaded by one for 500ms; two waits          │
    │                                                                ││                                                    │
    │                                                                ││ item:1                                             │
    │                                                                ││  changed by one 5.0 s ago                          │
    │                                                                ││  two was told after 2ms                            │
    │                                                                ││  three has not been told                           │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    └────────────────────────────────────────────────────────────────┘└────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "Fleet80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
    ┌ Fleet 1–2 of 2 ─────────────────────────────────────────────── sort CHANGED▼ ┐
    │ KEY                              1 ONE   2 TWO 3 THREE        CHANGED    TOLD│
    │▸item:1                             10s       ·      8s     1 one   5s       …│
    │ quiet                              10s       ·       ·                       │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
    ┌ Apps 3 ──────────────────────────────── Enter shows one on the other screens ┐
    │▸1 one 100  ● hears  hit — of 0                                               │
    │   told 0  never stale  loads 1 waits 0                                       │
    │ 2 two 101  ● hears  hit — of 0                                               │
    │   told 1 ≤ 2ms  never stale  loads 0 waits 1                                 │
    │ 3 three 102  ● hears  hit 100% of 1                                          │
    │   told 0  stale 1 ≤ 50ms                                                     │
    │                                                                              │
    │ ⟳ news loaded by one for 500ms; two waits                                    │
    │                                                                              │
    └───────────────────────────────────────────────────────────────────────… more ┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Keyspace120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE   — req/s   hit —   in flight 0   lost 0                             12:03:00  ?:help
    ┌ Keyspace 1–2 of 2 ──────────────────────────────── sort BYTES▼ ┐┌ Server ────────────────────────────── Redis 7.0.15 ┐
    │ PREFIX                     KEYS    BYTES  LARGEST           TTL││ address   redis://localhost:6379 · master · up 0s  │
    │▸page/                       100  488 KiB  4.9 KiB         ∞ 100││ memory    98 MiB of 100 MiB, 98.0% · peak 99 MiB · │
    │ user:                       900 87.9 KiB    100 B            7m││           allkeys-lru                              │
    │                                                                ││ hits      88.1% of 1 000 · now — and — missed      │
    │                                                                ││ evicted   12 · — · expired 0                       │
    │                                                                ││ clients   4 · 2 told of changes · 0 blocked        │
    │                                                                ││ commands  — · 0 so far                             │
    │                                                                ││ looked at 1 000 of 20 000 keys in 0ns              │
    │                                                                ││                                                    │
    │                                                                ││ monitor   :monitor 5s listens to every command for │
    │                                                                ││           five seconds, which costs the server     │
    │                                                                ││           speed                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    │                                                                ││                                                    │
    └────────────────────────────────────────────────────────────────┘└────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "Keyspace80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
    ┌ Keyspace 1–2 of 2 ────────────────────────────────────────────── sort BYTES▼ ┐
    │ PREFIX                                   KEYS    BYTES  LARGEST           TTL│
    │▸page/                                     100  488 KiB  4.9 KiB         ∞ 100│
    │ user:                                     900 87.9 KiB    100 B            7m│
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
    ┌ Server ─────────────────────────────────────────────── ↓ more · Redis 7.0.15 ┐
    │ address   redis://localhost:6379 · master · up 0s                            │
    │ memory    98 MiB of 100 MiB, 98.0% · peak 99 MiB · allkeys-lru               │
    │ hits      88.1% of 1 000 · now — and — missed                                │
    │ evicted   12 · — · expired 0                                                 │
    │ clients   4 · 2 told of changes · 0 blocked                                  │
    │ commands  — · 0 so far                                                       │
    │ looked at 1 000 of 20 000 keys in 0ns                                        │
    │                                                                              │
    │ monitor   :monitor 5s listens to every command for five seconds, which costs │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Redis120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE   — req/s   hit —   in flight 0   lost 0                             12:03:00  ?:help
    ┌ 1 MEMORY ───────────────────────────── ADAPTIVE 50 MiB ┐     ┌ 2 REDIS ────────────────────────────────────── photos ┐
    │ hit       —  ···································     — │════▶│ hit       —  ··································     — │
    │ miss      —  ···································     — │     │ miss      —  ··································     — │
    │ p50 —  p99 —  max —                                    │     │ p50 —  p99 —  max —                                   │
    │ used —                                                 │◀────│ listening  unsettled 2  trip 400µs  told 3/s          │
    │ evict —  expire —  sets 0                              │     │ sets 0                                                │
    └────────────────────────────────────────────────────────┘     └───────────────────────────────────────────────────────┘
     served by —  no reads yet
    ┌ Entries 0 ──────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐┌ In flight 0 ─────────────────────────────┐
    │ KEY                   M R      SIZE   AGE  TTL LEFT           HITS  LAST ││ KEY             AT      WAIT ELAPSED     │
    │ nothing is cached yet   :set KEY VALUE stores, :get KEY reads            ││ nobody waits                             │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          │└──────────────────────────────────────────┘
    │                                                                          │┌ Latency ──────────── since start · log x ┐
    │                                                                          ││       100n 10µ   1m   100m      p50   p99│
    │                                                                          ││MEMORY                             —     —│
    │                                                                          ││REDIS                              —     —│
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    └──────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────┘
    ┌ Log ──────────────────────────────────────────────────────────────────────────────────────────── ≥ debug · following ┐
    │ no lines yet                                                                                                         │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "Redis80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
       LEVEL       HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
     1 MEMORY         —      — ··········      —      — —                   —      —
     2 REDIS          —      — ··········      —      — listening           —      —
     served by —  no reads yet
    ┌ Entries 0 ──────────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
    │ KEY                       M R      SIZE   AGE  TTL LEFT           HITS  LAST │
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
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Deaf120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE   — req/s   hit —   in flight 0   lost 0                             12:03:00  ?:help
    ┌ 1 MEMORY ───────────────────────────── ADAPTIVE 50 MiB ┐     ┌ 2 REDIS ────────────────────────────────────── photos ┐
    │ hit       —  ···································     — │════▶│ hit       —  ··································     — │
    │ miss      —  ···································     — │     │ miss      —  ··································     — │
    │ p50 —  p99 —  max —                                    │     │ p50 —  p99 —  max —                                   │
    │ used —                                                 │◀────│ ✕ deaf 12s  unsettled 2  trip 400µs  told 3/s         │
    │ evict —  expire —  sets 0                              │     │ sets 0                                                │
    └────────────────────────────────────────────────────────┘     └───────────────────────────────────────────────────────┘
     served by —  no reads yet
    ┌ Entries 0 ──────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐┌ In flight 0 ─────────────────────────────┐
    │ KEY                   M R      SIZE   AGE  TTL LEFT           HITS  LAST ││ KEY             AT      WAIT ELAPSED     │
    │ nothing is cached yet   :set KEY VALUE stores, :get KEY reads            ││ nobody waits                             │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          │└──────────────────────────────────────────┘
    │                                                                          │┌ Latency ──────────── since start · log x ┐
    │                                                                          ││       100n 10µ   1m   100m      p50   p99│
    │                                                                          ││MEMORY                             —     —│
    │                                                                          ││REDIS                              —     —│
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    │                                                                          ││                                          │
    └──────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────┘
    ┌ Log ──────────────────────────────────────────────────────────────────────────────────────────── ≥ debug · following ┐
    │ no lines yet                                                                                                         │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "Deaf80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
       LEVEL       HIT%  REQ/S HISTORY       p50    p99 USED             KEYS  EVICT
     1 MEMORY         —      — ··········      —      — —                   —      —
     2 REDIS   ✕      —      — ··········      —      — ✕ deaf 12s          —      —
     served by —  no reads yet
    ┌ Entries 0 ──────────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
    │ KEY                       M R      SIZE   AGE  TTL LEFT           HITS  LAST │
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
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
  ]

  static func expect(_ scene: Scene, shows name: String, at location: SourceLocation = #_sourceLocation) throws {
    let lines = scene.lines
    let expected = all[name]?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines == expected, "\(name)\n\(lines.joined(separator: "\n"))", sourceLocation: location)
    try StyleGrid.expect(scene.canvas, isStyledAs: name, at: location)
  }
}
#endif
