/// The screens of ``ScreensTests``, as they should be.
enum ScreenGrids {
  static let all: [String: String] = [
    "Quit40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
       LEVEL          HIT%  REQ/S ERR 5s
     1 MEMORY          0.0    1.2   0.0%
     2 DISK           18.2    1.2   0.0%
       pool         2 joined
       └ cap        3/3 run  1 had to wait
         └ origin ✕      —    0.4  50.0%
     served by M 0.0 D 25.0 o 75.0

     the workload zipf runs: quit? y/N
    """#,
    "Quit80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
       LEVEL             HIT%  REQ/S ERR 5s    p50    p99 USED             KEYS
     1 MEMORY             0.0    1.2   0.0%   18µs   20µs ▏░░░░░░░░   2%      5
     2 DISK              18.2    1.2   0.0%  1.1ms  1.1ms ▏░░░░░░░░   0%      6
       pool            2 joined
       └ cap           3/3 run  1 had to wait
         └ origin    ✕      —    0.4  50.0%   84ms  150ms err 14.3%           —
     served by M 0.0 D 25.0 █████▌ o 75.0 ████████████████▌   joined 2  failed 1
    ┌ Entries 1–5 of 6 ───────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
    │ KEY                       M D      SIZE   AGE  TTL LEFT           HITS  LAST │
    │▸user:42                   ● ●   4.1 KiB   30s  █████████░  26s       1  5s   │
    │ feed:home                 ● ●   4.1 KiB   30s  █████████░  26s       1  <5s  │
    │ user:9113                 ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ i18n/日本語               ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ key\e[2J                  ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    └──────────────────────────────────────────────────────────────────────────────┘
    ┌ [Log] In flight Latency ──────────────────────────────── ≥ debug · following ┐
    │ 34.414 DEBUG pool     load   img:logo                                    #11 │
    │ 34.564 WARN  origin   get failed img:logo (no route to host) 150.000 ms  #11 │
    │ 34.564 ERROR cache    get    img:logo failed: no route to host 152.000…  #11 │
    │ 36.564 DEBUG memory   miss   search:swift (absent) 0.020 ms              #12 │
    └──────────────────────────────────────────────────────────────────────────────┘
     the workload zipf runs: quit? y/N
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Config120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Config demo.yaml ─────────────────────────────────────────────────────────────────────────── no warnings · r reloads ┐
    │▸memory                                                                                                  demo.yaml:3  │
    │   capacity        1 MiB                                                                                 demo.yaml:3  │
    │   count           no limit                                                                                  default  │
    │   policy          adaptive                                                                                  default  │
    │   expiry          30s                                                                                   demo.yaml:3  │
    │   keepExpired     0s                                                                                        default  │
    │ disk                                                                                                    demo.yaml:4  │
    │   directory       /srv/cache                                                                            demo.yaml:4  │
    │   capacity        20 MiB                                                                                demo.yaml:4  │
    │   expiry          10m                                                                                   demo.yaml:4  │
    │   keepExpired     0s                                                                                        default  │
    │   durability      buffered                                                                                  default  │
    │ pool              pooled                                                                                demo.yaml:5  │
    │   capped                                                                                                demo.yaml:6  │
    │     limit         3                                                                                     demo.yaml:6  │
    │     origin                                                                                              demo.yaml:6  │
    │       latency     40ms..200ms                                                                           demo.yaml:6  │
    │       failures    0%                                                                                        default  │
    │       missing     0%                                                                                        default  │
    │       size        4 KiB                                                                                     default  │
    │       seed        7                                                                                     demo.yaml:6  │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
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
    "Config200x60": #"""
     CacheExplorer  demo.yaml  ● LIVE   1.2 req/s   ✕ err 11.1%, 5 s 25.0%   hit 22.2% of 9, 5 s 50.0%   in flight 1   lost 0                                                              12:03:36  ?:help
    ┌ Config demo.yaml ─────────────────────────────────────────────────────────────────── no warnings · r reloads ┐┌ Inspector ───────────────────────────────────────────────────────────────────────────┐
    │▸memory                                                                                          demo.yaml:3  ││ no request is known for the chosen row; Tab and the arrows choose                    │
    │   capacity        1 MiB                                                                         demo.yaml:3  ││                                                                                      │
    │   count           no limit                                                                          default  ││                                                                                      │
    │   policy          adaptive                                                                          default  ││                                                                                      │
    │   expiry          30s                                                                           demo.yaml:3  ││                                                                                      │
    │   keepExpired     0s                                                                                default  ││                                                                                      │
    │ disk                                                                                            demo.yaml:4  ││                                                                                      │
    │   directory       /srv/cache                                                                    demo.yaml:4  ││                                                                                      │
    │   capacity        20 MiB                                                                        demo.yaml:4  ││                                                                                      │
    │   expiry          10m                                                                           demo.yaml:4  ││                                                                                      │
    │   keepExpired     0s                                                                                default  ││                                                                                      │
    │   durability      buffered                                                                          default  ││                                                                                      │
    │ pool              pooled                                                                        demo.yaml:5  ││                                                                                      │
    │   capped                                                                                        demo.yaml:6  ││                                                                                      │
    │     limit         3                                                                             demo.yaml:6  ││                                                                                      │
    │     origin                                                                                      demo.yaml:6  ││                                                                                      │
    │       latency     40ms..200ms                                                                   demo.yaml:6  ││                                                                                      │
    │       failures    0%                                                                                default  ││                                                                                      │
    │       missing     0%                                                                                default  ││                                                                                      │
    │       size        4 KiB                                                                             default  ││                                                                                      │
    │       seed        7                                                                             demo.yaml:6  ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  xExpire  cClear  wWarning  zZoom  qQuit
    """#,
    "Config40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
    ┌ Config demo.…ml ─────────────────────┐
    │▸memory                               │
    │   capacity        1 MiB              │
    │   count           no limit           │
    │   policy          adaptive           │
    │   expiry          30s                │
    │   keepExpired     0s                 │
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
    "Config80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Config demo.yaml ────────────────────────── ↓ more · no warnings · r reloads ┐
    │▸memory                                                          demo.yaml:3  │
    │   capacity        1 MiB                                         demo.yaml:3  │
    │   count           no limit                                          default  │
    │   policy          adaptive                                          default  │
    │   expiry          30s                                           demo.yaml:3  │
    │   keepExpired     0s                                                default  │
    │ disk                                                            demo.yaml:4  │
    │   directory       /srv/cache                                    demo.yaml:4  │
    │   capacity        20 MiB                                        demo.yaml:4  │
    │   expiry          10m                                           demo.yaml:4  │
    │   keepExpired     0s                                                default  │
    │   durability      buffered                                          default  │
    │ pool              pooled                                        demo.yaml:5  │
    │   capped                                                        demo.yaml:6  │
    │     limit         3                                             demo.yaml:6  │
    │     origin                                                      demo.yaml:6  │
    │       latency     40ms..200ms                                   demo.yaml:6  │
    │       failures    0%                                                default  │
    │       missing     0%                                                default  │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Entries120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Entries 1–6 of 6 ───────────────────────────────────────────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
    │ KEY                                                               M D      SIZE   AGE  TTL LEFT           HITS  LAST │
    │▸user:42                                                           ● ●   4.1 KiB   30s  █████████░  26s       1  5s   │
    │ feed:home                                                         ● ●   4.1 KiB   30s  █████████░  26s       1  <5s  │
    │ user:9113                                                         ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ i18n/日本語                                                       ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ key\e[2J                                                          ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ thumb:903                                                         ● ●   4.1 KiB   <5s  █████████▌  28s       0  <5s  │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
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
    "Entries200x60": #"""
     CacheExplorer  demo.yaml  ● LIVE   1.2 req/s   ✕ err 11.1%, 5 s 25.0%   hit 22.2% of 9, 5 s 50.0%   in flight 1   lost 0                                                              12:03:36  ?:help
    ┌ Entries 1–6 of 6 ───────────────────────────────────────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐┌ Request #6  get user:42 ───────────────────────────────────────────────── ↵ inspects ┐
    │ KEY                                                       M D      SIZE   AGE  TTL LEFT           HITS  LAST ││ hit DISK                                                                             │
    │▸user:42                                                   ● ●   4.1 KiB   30s  █████████░  26s       1  5s   ││ 4.1 KiB · total 570µs · TTL 9m · 12:03:31.416                                        │
    │ feed:home                                                 ● ●   4.1 KiB   30s  █████████░  26s       1  <5s  ││                       0                         285µs                         570µs  │
    │ user:9113                                                 ✕ ●   4.1 KiB   30s  expired 5s            0  30s  ││ MEMORY      ○ expired █▉ 20µs                                                        │
    │ i18n/日本語                                               ✕ ●   4.1 KiB   30s  expired 5s            0  30s  ││ DISK        ● hit      ██████████████████████████████████████████▊ 460µs             │
    │ key\e[2J                                                  ✕ ●   4.1 KiB   30s  expired 5s            0  30s  ││ MEMORY      fill                                                  ████████▍ 90µs     │
    │ thumb:903                                                 ● ●   4.1 KiB   <5s  █████████▌  28s       0  <5s  ││ why: MEMORY missed because its copy expired 12:03:30 (ttl 30s); see event 63         │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  xExpire  cClear  wWarning  zZoom  qQuit
    """#,
    "Entries40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
    ┌ Entries 1–5 of 6 ──────── sort HITS▼ ┐
    │ KEY            MD  TTL LEFT     LAST │
    │▸user:42        ●●  ████▌  26s   5s   │
    │ feed:home      ●●  ████▌  26s   <5s  │
    │ user:9113      ✕●  expired 5s   30s  │
    │ i18n/日本語    ✕●  expired 5s   30s  │
    │ key\e[2J       ✕●  expired 5s   30s  │
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
    "Entries80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Entries 1–6 of 6 ───────────────────── sort HITS▼ · ● fresh ◐ <10% ✕ expired ┐
    │ KEY                       M D      SIZE   AGE  TTL LEFT           HITS  LAST │
    │▸user:42                   ● ●   4.1 KiB   30s  █████████░  26s       1  5s   │
    │ feed:home                 ● ●   4.1 KiB   30s  █████████░  26s       1  <5s  │
    │ user:9113                 ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ i18n/日本語               ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ key\e[2J                  ✕ ●   4.1 KiB   30s  expired 5s            0  30s  │
    │ thumb:903                 ● ●   4.1 KiB   <5s  █████████▌  28s       0  <5s  │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Latency120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Latency · all ─────────────────────────────────────────────────── a: all · since start · log x, log counts · ↵ worst ┐
    │ MEMORY         n 12  p50 18µs  p90 20µs  p99 20µs  p99.9 20µs  max 20µs  worst at 12:03:31 #6                        │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │                              █                                                                                       │
    │ DISK           n 11  p50 1.1ms  p90 1.1ms  p99 1.1ms  p99.9 1.1ms  max 1.1ms  worst at 12:03:00 #1                   │
    │                                                     █                                                                │
    │                                                     █                                                                │
    │                                                     █                                                                │
    │                                                     █                                                                │
    │                                                █    █                                                                │
    │                                                █    █                                                                │
    │                                                █    █                                                                │
    │                                                █    █                                                                │
    │ origin         n 7  p50 84ms  p90 150ms  p99 150ms  p99.9 150ms  max 150ms  worst at 12:03:34 #11                    │
    │                                                                             █                                        │
    │                                                                             █                                        │
    │                                                                             █                                        │
    │                                                                             █                                        │
    │                                                                             █  ▾ max                                 │
    │                                                                             █  ▅                                     │
    │                                                                             █  █                                     │
    │                                                                             █  █                                     │
    │ 100n        1µ           10µ          100µ         1m           10m          100m         1s           10s           │
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
    "Latency200x60": #"""
     CacheExplorer  demo.yaml  ● LIVE   1.2 req/s   ✕ err 11.1%, 5 s 25.0%   hit 22.2% of 9, 5 s 50.0%   in flight 1   lost 0                                                              12:03:36  ?:help
    ┌ Latency · all ─────────────────────────────────────────── a: all · since start · log x, log counts · ↵ worst ┐┌ Request #11  get img:logo ─────────────────────────────────────────────── ↵ inspects ┐
    │ MEMORY         n 12  p50 18µs  p90 20µs  p99 20µs  p99.9 20µs  max 20µs  worst at 12:03:31 #6                ││ failed: no route to host                                                             │
    │                            █                                                                                 ││ total 152ms · 12:03:34.413                                                           │
    │                            █                                                                                 ││                       0                         76ms                          152ms  │
    │                            █                                                                                 ││ MEMORY      ○ miss    ▏ 18µs                                                         │
    │                            █                                                                                 ││ DISK        ○ miss    ▍ 1.1ms                                                        │
    │                            █                                                                                 ││ origin      ✕ failed  ████████████████████████████████████████████████████▎ 150ms    │
    │                            █                                                                                 ││ why: MEMORY missed because nobody has stored the key there since the start; see      │
    │                            █                                                                                 ││      event 107                                                                       │
    │                            █                                                                                 ││ why: DISK missed because nobody has stored the key there since the start; see event  │
    │ DISK           n 11  p50 1.1ms  p90 1.1ms  p99 1.1ms  p99.9 1.1ms  max 1.1ms  worst at 12:03:00 #1           ││      109                                                                             │
    │                                                 █                                                            ││ why: ORIGIN could not answer: no route to host; see event 112                        │
    │                                                 █                                                            ││ origin ✕ err 14.3%, 5 s 50.0%                                                        │
    │                                                 █                                                            ││ why: it failed: no route to host; see event 114                                      │
    │                                                 █                                                            ││                                                                                      │
    │                                             █   █                                                            ││                                                                                      │
    │                                             █   █                                                            ││                                                                                      │
    │                                             █   █                                                            ││                                                                                      │
    │                                             █   █                                                            ││                                                                                      │
    │ origin         n 7  p50 84ms  p90 150ms  p99 150ms  p99.9 150ms  max 150ms  worst at 12:03:34 #11            ││                                                                                      │
    │                                                                        █                                     ││                                                                                      │
    │                                                                        █                                     ││                                                                                      │
    │                                                                        █                                     ││                                                                                      │
    │                                                                        █                                     ││                                                                                      │
    │                                                                        █  ▾ max                              ││                                                                                      │
    │                                                                        █  ▅                                  ││                                                                                      │
    │                                                                        █  █                                  ││                                                                                      │
    │                                                                        █  █                                  ││                                                                                      │
    │ 100n        1µ          10µ         100µ        1m          10m         100m        1s          10s          ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  xExpire  cClear  wWarning  zZoom  qQuit
    """#,
    "Latency40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
    ┌ Latency · all ───────── a: all · log ┐
    │ MEMORY n 12  p50 18µs  p90 20µs      │
    │ DISK   n 11  p50 1.1ms  p90 1.1ms    │
    │ origin n 7  p50 84ms  p90 150ms      │
    │                                      │
    │                                      │
    │                                      │
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
    "Latency80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Latency · all ─────────── a: all · since start · log x, log counts · ↵ worst ┐
    │ MEMORY      n 12  p50 18µs  p90 20µs  p99 20µs  p99.9 20µs  max 20µs         │
    │                    █                                                         │
    │                    █                                                         │
    │                    █                                                         │
    │                    █                                                         │
    │                    █                                                         │
    │ DISK        n 11  p50 1.1ms  p90 1.1ms  p99 1.1ms  p99.9 1.1ms  max 1.1ms    │
    │                                   █                                          │
    │                                   █                                          │
    │                                ▄  █                                          │
    │                                █  █                                          │
    │                                █  █                                          │
    │ origin      n 7  p50 84ms  p90 150ms  p99 150ms  p99.9 150ms  max 150ms      │
    │                                                  █                           │
    │                                                  █                           │
    │                                                  █  ▾ max                    │
    │                                                  █  ▅                        │
    │                                                  █  █                        │
    │ 100n    1µ      10µ      100µ    1m       10m     100m     1s      10s       │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Log120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Log ──────────────────────────────────────────────────────────────────────────────────────────── ≥ debug · following ┐
    │ 12:03:00.333 DEBUG memory   miss   key\e[2J (absent) 0.018 ms                                                     #5 │
    │ 12:03:00.334 DEBUG disk     miss   key\e[2J (absent) 1.140 ms                                                     #5 │
    │ 12:03:00.334 DEBUG pool     load   key\e[2J                                                                       #5 │
    │ 12:03:00.416 INFO  origin   hit    key\e[2J cost=4200 82.000 ms                                                   #5 │
    │ 12:03:00.416 DEBUG disk     fill   key\e[2J cost=4200 0.090 ms                                                    #5 │
    │ 12:03:00.416 DEBUG memory   fill   key\e[2J cost=4200 0.090 ms                                                    #5 │
    │ 12:03:31.416 INFO  memory   expired user:42 cost=4200                                                             #6 │
    │ 12:03:31.416 DEBUG memory   miss   user:42 (expired) 0.020 ms                                                     #6 │
    │ 12:03:31.417 INFO  disk     hit    user:42 cost=4200 0.460 ms                                                     #6 │
    │ 12:03:31.417 DEBUG memory   fill   user:42 cost=4200 0.090 ms                                                     #6 │
    │ 12:03:32.417 INFO  memory   evicted feed:home cost=4200 for img:hero                                                 │
    │ 12:03:32.417 DEBUG memory   miss   feed:home (absent) 0.020 ms                                                    #7 │
    │ 12:03:32.417 INFO  disk     hit    feed:home cost=4200 0.460 ms                                                   #7 │
    │ 12:03:32.417 DEBUG memory   fill   feed:home cost=4200 0.090 ms                                                   #7 │
    │ 12:03:33.617 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                                    #8 │
    │ 12:03:33.618 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                                    #8 │
    │ 12:03:33.618 DEBUG pool     load   thumb:903                                                                      #8 │
    │ 12:03:33.618 DEBUG capped   queue  thumb:903 running=3 waiting=1                                                  #8 │
    │ 12:03:33.630 DEBUG capped   admit  thumb:903 running=3 waiting=0                                                  #8 │
    │ 12:03:33.651 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                                    #9 │
    │ 12:03:33.652 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                                    #9 │
    │ 12:03:33.652 DEBUG pool     join   thumb:903 callers=2                                                            #9 │
    │ 12:03:33.672 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                                   #10 │
    │ 12:03:33.673 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                                   #10 │
    │ 12:03:33.673 DEBUG pool     join   thumb:903 callers=3                                                           #10 │
    │ 12:03:33.713 INFO  origin   hit    thumb:903 cost=14336 82.000 ms                                                 #8 │
    │ 12:03:33.713 DEBUG disk     fill   thumb:903 cost=4200 0.090 ms                                                   #8 │
    │ 12:03:33.713 DEBUG memory   fill   thumb:903 cost=4200 0.090 ms                                                   #8 │
    │ 12:03:34.413 DEBUG memory   miss   img:logo (absent) 0.018 ms                                                    #11 │
    │ 12:03:34.414 DEBUG disk     miss   img:logo (absent) 1.140 ms                                                    #11 │
    │ 12:03:34.414 DEBUG pool     load   img:logo                                                                      #11 │
    │ 12:03:34.564 WARN  origin   get failed img:logo (no route to host) 150.000 ms                                    #11 │
    │ 12:03:34.564 ERROR cache    get    img:logo failed: no route to host 152.000 ms                                  #11 │
    │ 12:03:36.564 DEBUG memory   miss   search:swift (absent) 0.020 ms                                                #12 │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "Log200x60": #"""
     CacheExplorer  demo.yaml  ● LIVE   1.2 req/s   ✕ err 11.1%, 5 s 25.0%   hit 22.2% of 9, 5 s 50.0%   in flight 1   lost 0                                                              12:03:36  ?:help
    ┌ Log ──────────────────────────────────────────────────────────────────────────────────── ≥ debug · following ┐┌ Request #12  get search:swift ─────────────────────────────────────────── ↵ inspects ┐
    │ 12:03:00.083 DEBUG disk     fill   user:42 cost=4200 0.090 ms                                             #1 ││ under way                                                                            │
    │ 12:03:00.083 DEBUG memory   fill   user:42 cost=4200 0.090 ms                                             #1 ││ total 3ms · 12:03:36.564                                                             │
    │ 12:03:00.083 DEBUG memory   miss   user:9113 (absent) 0.018 ms                                            #2 ││                       0                         1.5ms                           3ms  │
    │ 12:03:00.084 DEBUG disk     miss   user:9113 (absent) 1.140 ms                                            #2 ││ MEMORY      ○ miss    ▍ 20µs                                                         │
    │ 12:03:00.084 DEBUG pool     load   user:9113                                                              #2 ││ DISK        asked …   ████████████████████████████████████████████████████▋ …        │
    │ 12:03:00.166 INFO  origin   hit    user:9113 cost=4200 82.000 ms                                          #2 ││ why: MEMORY missed because nobody has stored the key there since the start; see      │
    │ 12:03:00.166 DEBUG disk     fill   user:9113 cost=4200 0.090 ms                                           #2 ││      event 117                                                                       │
    │ 12:03:00.166 DEBUG memory   fill   user:9113 cost=4200 0.090 ms                                           #2 ││                                                                                      │
    │ 12:03:00.166 DEBUG memory   miss   feed:home (absent) 0.018 ms                                            #3 ││                                                                                      │
    │ 12:03:00.167 DEBUG disk     miss   feed:home (absent) 1.140 ms                                            #3 ││                                                                                      │
    │ 12:03:00.167 DEBUG pool     load   feed:home                                                              #3 ││                                                                                      │
    │ 12:03:00.249 INFO  origin   hit    feed:home cost=4200 82.000 ms                                          #3 ││                                                                                      │
    │ 12:03:00.249 DEBUG disk     fill   feed:home cost=4200 0.090 ms                                           #3 ││                                                                                      │
    │ 12:03:00.250 DEBUG memory   fill   feed:home cost=4200 0.090 ms                                           #3 ││                                                                                      │
    │ 12:03:00.250 DEBUG memory   miss   i18n/日本語 (absent) 0.018 ms                                          #4 ││                                                                                      │
    │ 12:03:00.251 DEBUG disk     miss   i18n/日本語 (absent) 1.140 ms                                          #4 ││                                                                                      │
    │ 12:03:00.251 DEBUG pool     load   i18n/日本語                                                            #4 ││                                                                                      │
    │ 12:03:00.333 INFO  origin   hit    i18n/日本語 cost=4200 82.000 ms                                        #4 ││                                                                                      │
    │ 12:03:00.333 DEBUG disk     fill   i18n/日本語 cost=4200 0.090 ms                                         #4 ││                                                                                      │
    │ 12:03:00.333 DEBUG memory   fill   i18n/日本語 cost=4200 0.090 ms                                         #4 ││                                                                                      │
    │ 12:03:00.333 DEBUG memory   miss   key\e[2J (absent) 0.018 ms                                             #5 ││                                                                                      │
    │ 12:03:00.334 DEBUG disk     miss   key\e[2J (absent) 1.140 ms                                             #5 ││                                                                                      │
    │ 12:03:00.334 DEBUG pool     load   key\e[2J                                                               #5 ││                                                                                      │
    │ 12:03:00.416 INFO  origin   hit    key\e[2J cost=4200 82.000 ms                                           #5 ││                                                                                      │
    │ 12:03:00.416 DEBUG disk     fill   key\e[2J cost=4200 0.090 ms                                            #5 ││                                                                                      │
    │ 12:03:00.416 DEBUG memory   fill   key\e[2J cost=4200 0.090 ms                                            #5 ││                                                                                      │
    │ 12:03:31.416 INFO  memory   expired user:42 cost=4200                                                     #6 ││                                                                                      │
    │ 12:03:31.416 DEBUG memory   miss   user:42 (expired) 0.020 ms                                             #6 ││                                                                                      │
    │ 12:03:31.417 INFO  disk     hit    user:42 cost=4200 0.460 ms                                             #6 ││                                                                                      │
    │ 12:03:31.417 DEBUG memory   fill   user:42 cost=4200 0.090 ms                                             #6 ││                                                                                      │
    │ 12:03:32.417 INFO  memory   evicted feed:home cost=4200 for img:hero                                         ││                                                                                      │
    │ 12:03:32.417 DEBUG memory   miss   feed:home (absent) 0.020 ms                                            #7 ││                                                                                      │
    │ 12:03:32.417 INFO  disk     hit    feed:home cost=4200 0.460 ms                                           #7 ││                                                                                      │
    │ 12:03:32.417 DEBUG memory   fill   feed:home cost=4200 0.090 ms                                           #7 ││                                                                                      │
    │ 12:03:33.617 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                            #8 ││                                                                                      │
    │ 12:03:33.618 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                            #8 ││                                                                                      │
    │ 12:03:33.618 DEBUG pool     load   thumb:903                                                              #8 ││                                                                                      │
    │ 12:03:33.618 DEBUG capped   queue  thumb:903 running=3 waiting=1                                          #8 ││                                                                                      │
    │ 12:03:33.630 DEBUG capped   admit  thumb:903 running=3 waiting=0                                          #8 ││                                                                                      │
    │ 12:03:33.651 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                            #9 ││                                                                                      │
    │ 12:03:33.652 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                            #9 ││                                                                                      │
    │ 12:03:33.652 DEBUG pool     join   thumb:903 callers=2                                                    #9 ││                                                                                      │
    │ 12:03:33.672 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                                           #10 ││                                                                                      │
    │ 12:03:33.673 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                                           #10 ││                                                                                      │
    │ 12:03:33.673 DEBUG pool     join   thumb:903 callers=3                                                   #10 ││                                                                                      │
    │ 12:03:33.713 INFO  origin   hit    thumb:903 cost=14336 82.000 ms                                         #8 ││                                                                                      │
    │ 12:03:33.713 DEBUG disk     fill   thumb:903 cost=4200 0.090 ms                                           #8 ││                                                                                      │
    │ 12:03:33.713 DEBUG memory   fill   thumb:903 cost=4200 0.090 ms                                           #8 ││                                                                                      │
    │ 12:03:34.413 DEBUG memory   miss   img:logo (absent) 0.018 ms                                            #11 ││                                                                                      │
    │ 12:03:34.414 DEBUG disk     miss   img:logo (absent) 1.140 ms                                            #11 ││                                                                                      │
    │ 12:03:34.414 DEBUG pool     load   img:logo                                                              #11 ││                                                                                      │
    │ 12:03:34.564 WARN  origin   get failed img:logo (no route to host) 150.000 ms                            #11 ││                                                                                      │
    │ 12:03:34.564 ERROR cache    get    img:logo failed: no route to host 152.000 ms                          #11 ││                                                                                      │
    │ 12:03:36.564 DEBUG memory   miss   search:swift (absent) 0.020 ms                                        #12 ││                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  xExpire  cClear  wWarning  zZoom  qQuit
    """#,
    "Log40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
    ┌ Log ──────────── ≥ debug · following ┐
    │ 34.413 DEBUG memory   miss   img:lo… │
    │ 34.414 DEBUG disk     miss   img:lo… │
    │ 34.414 DEBUG pool     load   img:lo… │
    │ 34.564 WARN  origin   get failed im… │
    │ 34.564 ERROR cache    get    img:lo… │
    │ 36.564 DEBUG memory   miss   search… │
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
    "Log80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Log ──────────────────────────────────────────────────── ≥ debug · following ┐
    │ 33.618 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                  #8 │
    │ 33.618 DEBUG pool     load   thumb:903                                    #8 │
    │ 33.618 DEBUG capped   queue  thumb:903 running=3 waiting=1                #8 │
    │ 33.630 DEBUG capped   admit  thumb:903 running=3 waiting=0                #8 │
    │ 33.651 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                  #9 │
    │ 33.652 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                  #9 │
    │ 33.652 DEBUG pool     join   thumb:903 callers=2                          #9 │
    │ 33.672 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                 #10 │
    │ 33.673 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                 #10 │
    │ 33.673 DEBUG pool     join   thumb:903 callers=3                         #10 │
    │ 33.713 INFO  origin   hit    thumb:903 cost=14336 82.000 ms               #8 │
    │ 33.713 DEBUG disk     fill   thumb:903 cost=4200 0.090 ms                 #8 │
    │ 33.713 DEBUG memory   fill   thumb:903 cost=4200 0.090 ms                 #8 │
    │ 34.413 DEBUG memory   miss   img:logo (absent) 0.018 ms                  #11 │
    │ 34.414 DEBUG disk     miss   img:logo (absent) 1.140 ms                  #11 │
    │ 34.414 DEBUG pool     load   img:logo                                    #11 │
    │ 34.564 WARN  origin   get failed img:logo (no route to host) 150.000 ms  #11 │
    │ 34.564 ERROR cache    get    img:logo failed: no route to host 152.000…  #11 │
    │ 36.564 DEBUG memory   miss   search:swift (absent) 0.020 ms              #12 │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "Requests120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Requests 1–12 of the last 12 ──────────────────────────── 12 requests: served 8 joined 2 failed 1 under way 1 lost 0 ┐
    │ REQUEST  BEGAN        WHAT   KEY                                             OUTCOME                            TOOK │
    │▸#12      12:03:36.564 get    search:swift                                    under way                          3ms… │
    │ #11      12:03:34.413 get    img:logo                                        failed: no route to host          152ms │
    │ #10      12:03:33.672 get    thumb:903                                       hit ORIGIN joined #8               42ms │
    │ #9       12:03:33.650 get    thumb:903                                       hit ORIGIN joined #8               62ms │
    │ #8       12:03:33.617 get    thumb:903                                       hit ORIGIN ×3                      97ms │
    │ #7       12:03:32.417 get    feed:home                                       hit DISK                          570µs │
    │ #6       12:03:31.416 get    user:42                                         hit DISK                          570µs │
    │ #5       12:03:00.333 get    key\e[2J                                        hit ORIGIN                         83ms │
    │ #4       12:03:00.250 get    i18n/日本語                                     hit ORIGIN                         83ms │
    │ #3       12:03:00.166 get    feed:home                                       hit ORIGIN                         83ms │
    │ #2       12:03:00.083 get    user:9113                                       hit ORIGIN                         83ms │
    │ #1       12:03:00.000 get    user:42                                         hit ORIGIN                         83ms │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
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
    "Requests200x60": #"""
     CacheExplorer  demo.yaml  ● LIVE   1.2 req/s   ✕ err 11.1%, 5 s 25.0%   hit 22.2% of 9, 5 s 50.0%   in flight 1   lost 0                                                              12:03:36  ?:help
    ┌ Requests 1–12 of the last 12 ──────────────────── 12 requests: served 8 joined 2 failed 1 under way 1 lost 0 ┐┌ Request #12  get search:swift ─────────────────────────────────────────── ↵ inspects ┐
    │ REQUEST  BEGAN        WHAT   KEY                                        OUTCOME                         TOOK ││ under way                                                                            │
    │▸#12      12:03:36.564 get    search:swift                               under way                       3ms… ││ total 3ms · 12:03:36.564                                                             │
    │ #11      12:03:34.413 get    img:logo                                   failed: no route to host       152ms ││                       0                         1.5ms                           3ms  │
    │ #10      12:03:33.672 get    thumb:903                                  hit ORIGIN joined #8            42ms ││ MEMORY      ○ miss    ▍ 20µs                                                         │
    │ #9       12:03:33.650 get    thumb:903                                  hit ORIGIN joined #8            62ms ││ DISK        asked …   ████████████████████████████████████████████████████▋ …        │
    │ #8       12:03:33.617 get    thumb:903                                  hit ORIGIN ×3                   97ms ││ why: MEMORY missed because nobody has stored the key there since the start; see      │
    │ #7       12:03:32.417 get    feed:home                                  hit DISK                       570µs ││      event 117                                                                       │
    │ #6       12:03:31.416 get    user:42                                    hit DISK                       570µs ││                                                                                      │
    │ #5       12:03:00.333 get    key\e[2J                                   hit ORIGIN                      83ms ││                                                                                      │
    │ #4       12:03:00.250 get    i18n/日本語                                hit ORIGIN                      83ms ││                                                                                      │
    │ #3       12:03:00.166 get    feed:home                                  hit ORIGIN                      83ms ││                                                                                      │
    │ #2       12:03:00.083 get    user:9113                                  hit ORIGIN                      83ms ││                                                                                      │
    │ #1       12:03:00.000 get    user:42                                    hit ORIGIN                      83ms ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    │                                                                                                              ││                                                                                      │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  xExpire  cClear  wWarning  zZoom  qQuit
    """#,
    "Requests40x10": #"""
     demo.yaml  ● LIVE     12:03:36  ?:help
    ┌ Requests 1–5 of the last 12 ─────────┐
    │ REQUEST  KEY        OUTCOME     TOOK │
    │▸#12      search…ift under …     3ms… │
    │ #11      img:logo   failed…    152ms │
    │ #10      thumb:903  hit OR…     42ms │
    │ #9       thumb:903  hit OR…     62ms │
    │ #8       thumb:903  hit OR…     97ms │
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
    "Requests80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Requests 1–12 of the last 12 ───── 12 requests: served 8 joined 2 failed 1 … ┐
    │ REQUEST  BEGAN        WHAT   KEY                     OUTCOME            TOOK │
    │▸#12      12:03:36.564 get    search:swift            under way          3ms… │
    │ #11      12:03:34.413 get    img:logo                failed: no ro…    152ms │
    │ #10      12:03:33.672 get    thumb:903               hit ORIGIN jo…     42ms │
    │ #9       12:03:33.650 get    thumb:903               hit ORIGIN jo…     62ms │
    │ #8       12:03:33.617 get    thumb:903               hit ORIGIN ×3      97ms │
    │ #7       12:03:32.417 get    feed:home               hit DISK          570µs │
    │ #6       12:03:31.416 get    user:42                 hit DISK          570µs │
    │ #5       12:03:00.333 get    key\e[2J                hit ORIGIN         83ms │
    │ #4       12:03:00.250 get    i18n/日本語             hit ORIGIN         83ms │
    │ #3       12:03:00.166 get    feed:home               hit ORIGIN         83ms │
    │ #2       12:03:00.083 get    user:9113               hit ORIGIN         83ms │
    │ #1       12:03:00.000 get    user:42                 hit ORIGIN         83ms │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "failure": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Requests 1–1 of the last 1 · /logo ──────── 12 requests: served 8 joined 2 … ┐
    │ REQUEST  BEGAN        WHAT   KEY                     OUTCOME            TOOK │
    │▸#11      12:03:34.413 get    img:logo                failed: no ro…    152ms │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    ┌ Request #11  get img:logo ─────────────────────── ↑↓ ↵ go there · Esc closes ┐
    │ failed: no route to host                                                     │
    │ total 152ms · 12:03:34.413                                                   │
    │                       0                     76ms                      152ms  │
    │ MEMORY      ○ miss    ▏ 18µs                                                 │
    │ DISK        ○ miss    ▍ 1.1ms                                                │
    │ origin      ✕ failed  ████████████████████████████████████████████▍ 150ms    │
    │▸why: MEMORY missed because nobody has stored the key there since the start;  │
    │      see event 107                                                           │
    │ why: DISK missed because nobody has stored the key there since the start;    │
    │      see event 109                                                           │
    │ why: ORIGIN could not answer: no route to host; see event 112                │
    │ origin ✕ err 14.3%, 5 s 50.0%                                                │
    │ why: it failed: no route to host; see event 114                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "figures": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ 1 MEMORY ───┌ Figures · Levels and Entries ─────────────────────────────────────── ↓ more · Esc closes ┐ ORIGIN ─────┐
    │ hit    0.0% │ MEMORY hit rate (conditional)   0.0% = 0 / 12; last 5 s 0.0%                             │ 0.4/s ·██·· │
    │ miss   100% │   is             hits of this level ÷ look-ups that reached this level and were          │ 7 loads     │
    │ p50 18µs  p9│                  answered; each look-up weighs the same                                  │ p50 84ms    │
    │ used ▍░░░░░░│   unit           percent                                                                 │ p99 150ms   │
    │ 5 keys  evic│   window         since the start; with R the last 5 s                                    │ err 14.3%   │
    └ misses: abse│   source         the engine's counts hits ÷ answered of memory                           │ ✕ failing … ┘
     served by MEM│ MEMORY err   err 0.0%                                                                    │  failed 1
    ┌ Entries 1–6 │   is             look-ups of this level that failed ÷ look-ups that were answered; in    │─────────────┐
    │ KEY         │                  colour while there are any                                              │ ELAPSED     │
    │▸user:42     │   unit           percent                                                                 │ ████ 3ms!   │
    │ feed:home   │   window         since the start; last 5 s                                               │             │
    │ user:9113   │   source         the engine's counts errors ÷ answered of memory                         │             │
    │ i18n/日本語 │ MEMORY served by (global share)   0.0% = 0 / 8; last 5 s 0.0%                            │─────────────┘
    │ key\e[2J    │   is             reads answered by this level ÷ reads answered by any level; callers     │tart · log x ┐
    │ thumb:903   │                  that joined a load are not in it                                        │    p50   p99│
    │             │   unit           percent                                                                 │   18µs  20µs│
    │             │   window         since the start; with R the last 5 s                                    │  1.1ms 1.1ms│
    │             │   source         the engine's count served of memory                                     │   84ms 150ms│
    │             │ DISK hit rate (conditional)   18.2% = 2 / 11; last 5 s 33.3%                             │             │
    │             │   is             hits of this level ÷ look-ups that reached this level and were          │             │
    │             │                  answered; each look-up weighs the same                                  │             │
    │             │   unit           percent                                                                 │             │
    │             │   window         since the start; with R the last 5 s                                    │             │
    └─────────────│   source         the engine's counts hits ÷ answered of disk                             │─────────────┘
    ┌ Log ────────│ DISK err   err 0.0%                                                                      │ · following ┐
    │ 12:03:33.713│   is             look-ups of this level that failed ÷ look-ups that were answered; in    │          #8 │
    │ 12:03:33.713│                  colour while there are any                                              │          #8 │
    │ 12:03:33.713│   unit           percent                                                                 │          #8 │
    │ 12:03:34.413│   window         since the start; last 5 s                                               │         #11 │
    │ 12:03:34.414│   source         the engine's counts errors ÷ answered of disk                           │         #11 │
    │ 12:03:34.414│ DISK served by (global share)   25.0% = 2 / 8; last 5 s 66.7%                            │         #11 │
    │ 12:03:34.564│   is             reads answered by this level ÷ reads answered by any level; callers     │         #11 │
    │ 12:03:34.564│                  that joined a load are not in it                                        │         #11 │
    │ 12:03:36.564│   unit           percent                                                                 │         #12 │
    └─────────────└──────────────────────────────────────────────────────────────────────────────────────────┘─────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "leader": #"""
     CacheExplorer  demo.yaml  ● LIVE  1.2 req/s  ✕ err 25.0%  hit 22.2% of 9, 5 s 50.0%  in flight 1      12:03:36  ?:help
    ┌ Requests 1–3 of the last 3 · /thumb ───────────────────── 12 requests: served 8 joined 2 failed 1 under way 1 lost 0 ┐
    │ REQUEST  BEGAN        WHAT   KEY                                             OUTCOME                            TOOK │
    │ #10      12:03:33.672 get    thumb:903                                       hit ORIGIN joined #8               42ms │
    │ #9       12:03:33.650 get    thumb:903                                       hit ORIGIN joined #8               62ms │
    │▸#8       12:03:33.617 get    thumb:903                                       hit ORIGIN ×3                      97ms │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    │                                                                                                                      │
    ┌ Request #8  get thumb:903 ─────────────────────────────────────────────────────────────── ↑↓ ↵ go there · Esc closes ┐
    │ hit ORIGIN                                                                                                           │
    │ 14 KiB · total 97ms · callers 3 · 12:03:33.617                                                                       │
    │                       0                                         49ms                                           97ms  │
    │ MEMORY      ○ miss    ▏ 18µs                                                                                         │
    │ DISK        ○ miss    █ 1.1ms                                                                                        │
    │ capped      waited     ██████████▌ 12ms                                                                              │
    │ origin      ● hit                ███████████████████████████████████████████████████████████████████████▉ 82ms       │
    │ DISK        fill                                                                                         ▏ 90µs      │
    │ MEMORY      fill                                                                                         ▏ 90µs      │
    │▸joined      #9                                      █████████████████████████████████████████████████████▋ 61ms      │
    │ joined      #10                                                       ███████████████████████████████████ 40ms       │
    │ #8 led the load; 2 joined it                                                                                         │
    │ why: MEMORY missed because nobody has stored the key there since the start; see event 79                             │
    │ why: DISK missed because nobody has stored the key there since the start; see event 81                               │
    └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help

     ?Help  :Command  /Filter  ↵Inspect  1-9 Screen  Tab Focus  sSort  Space Pause  dDelete  cClear  wWarning  zZoom  qQuit
    """#,
    "models": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Models 2 ─────────────────────────────────────────────── Author 0+1 · Book 1 ┐
    │ MODEL                                TO  FROM  OBS   TOLD     SIZE TTL LEFT  │
    │ Author herbert                        0     1    2    now        —   absent  │
    │▸Book dune                             1     0    ·      ·        —      20s  │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
    ┌ Book dune ───────────────────────────────────────────────────── ↵ goes there ┐
    │ points to                                                                    │
    │ ─▶ Author herbert                                                            │
    │ pointed to by                                                                │
    │ nobody                                                                       │
    │ observed                                                                     │
    │ nobody observes it                                                           │
    │ value                                                                        │
    │ Book(id: "dune", title: "Dune\e[2J")                                         │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "reload": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Config demo.yaml ────────────────────────── ↓ more · no warnings · r reloads ┐
    │ what a reload would change                                                   │
    │ ~ memory.expiry: 30s → 5s                                                    │
    │ + second: memory                                                             │
    │                                                                              │
    │▸memory                                                          demo.yaml:3  │
    │   capacity        1 MiB                                         demo.yaml:3  │
    │   count           no limit                                          default  │
    │   policy          adaptive                                          default  │
    │   expiry          30s                                           demo.yaml:3  │
    │   keepExpired     0s                                                default  │
    │ disk                                                            demo.yaml:4  │
    │   directory       /srv/cache                                    demo.yaml:4  │
    │   capacity        20 MiB                                        demo.yaml:4  │
    │   expiry          10m                                           demo.yaml:4  │
    │   keepExpired     0s                                                default  │
    │   durability      buffered                                          default  │
    │ pool              pooled                                        demo.yaml:5  │
    │   capped                                                        demo.yaml:6  │
    │     limit         3                                             demo.yaml:6  │
    └──────────────────────────────────────────────────────────────────────────────┘
     apply 2 changes? The levels are closed and opened again y/N
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "valueBytes": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Value of user:42 ────────────── bytes, 46 B in MEMORY · P hides · Esc closes ┐
    │ 000000  00 1b 5b 41 ff fe 00 01  ..[A....                                    │
    │ 000008  02 03 04 05 06 07 08 09  ........                                    │
    │ 000010  0a 0b 0c 0d 0e 0f 10 11  ........                                    │
    │ 000018  12 13 14 15 16 17 18 19  ........                                    │
    │ 000020  1a 1b 1c 1d 1e 1f 20 21  ...... !                                    │
    │ 000028  22 23 24 25 26 27        "#$%&'                                      │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "valueJSON": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Value of user:42 ─────────────── JSON, 59 B in MEMORY · P hides · Esc closes ┐
    │ {                                                                            │
    │   empty: {},                                                                 │
    │   name: "A\e[2J",                                                            │
    │   tags: [                                                                    │
    │     "x",                                                                     │
    │     1.5,                                                                     │
    │     true,                                                                    │
    │     null                                                                     │
    │   ]                                                                          │
    │ }                                                                            │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    │                                                                              │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "wrapped": #"""
     CacheExplorer demo.yaml  ● LIVE  1.2/s  ✕ err 25.0%  fly 1    12:03:36  ?:help
    ┌ Log ──────────────────────────────── ≥ debug · wrapped · scrolled: G follows ┐
    │ 33.618 DEBUG pool     load   thumb:903                                    #8 │
    │ 33.618 DEBUG capped   queue  thumb:903 running=3 waiting=1                #8 │
    │ 33.630 DEBUG capped   admit  thumb:903 running=3 waiting=0                #8 │
    │ 33.651 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                  #9 │
    │ 33.652 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                  #9 │
    │ 33.652 DEBUG pool     join   thumb:903 callers=2                          #9 │
    │ 33.672 DEBUG memory   miss   thumb:903 (absent) 0.018 ms                 #10 │
    │ 33.673 DEBUG disk     miss   thumb:903 (absent) 1.140 ms                 #10 │
    │ 33.673 DEBUG pool     join   thumb:903 callers=3                         #10 │
    │ 33.713 INFO  origin   hit    thumb:903 cost=14336 82.000 ms               #8 │
    │ 33.713 DEBUG disk     fill   thumb:903 cost=4200 0.090 ms                 #8 │
    │ 33.713 DEBUG memory   fill   thumb:903 cost=4200 0.090 ms                 #8 │
    │ 34.413 DEBUG memory   miss   img:logo (absent) 0.018 ms                  #11 │
    │ 34.414 DEBUG disk     miss   img:logo (absent) 1.140 ms                  #11 │
    │▸34.414 DEBUG pool     load   img:logo                                    #11 │
    │ 34.564 WARN  origin   get failed img:logo (no route to host) 150.000 ms  #11 │
    │ 34.564 ERROR cache    get    img:logo failed: no route to host 152.000   #11 │
    │                       ms                                                     │
    │ 36.564 DEBUG memory   miss   search:swift (absent) 0.020 ms              #12 │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
  ]
}
