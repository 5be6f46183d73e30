/// The What if screen, whole.
enum WhatIfGrids {
  static let all: [String: String] = [
    "120x40": #"""
     CacheExplorer  demo.yaml  ● LIVE   — req/s   hit —   in flight 0   lost 0                             12:03:00  ?:help
    ┌ What if ─────────────────────────────────────────────────────────────────────────────── estimated from live look-ups ┐
    │ MEMORY  20 000 look-ups · every key · 209 KiB · 1.2% of the time                                                     │
    │ ▸ policy adaptive in place of lru would bring +64.4 points (±4.0), and costs nothing                                 │
    │   WHAT IF                    HIT RATE                                                              CHANGE     ERROR  │
    │▸  now       lru 100 entries  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%          measured  │
    │   ×0.25     25 entries       ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   ×0.5      50 entries       ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   ×2        200 entries      ███████████████████████████████████████████████████████████▌   99.3%   +99.3      ±0.0  │
    │   ×4        400 entries      ███████████████████████████████████████████████████████████▌   99.3%   +99.3      ±0.0  │
    │   fifo      policy           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   clock     policy           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   sieve     policy           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   s3fifo    policy           ████████████████████████████▎░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   47.1%   +47.1      ±0.0  │
    │   wtinylfu  policy           ██████████████████████████████████▋░░░░░░░░░░░░░░░░░░░░░░░░░   57.8%   +57.8      ±7.0  │
    │ ✓ adaptive  policy           ██████████████████████████████████████▋░░░░░░░░░░░░░░░░░░░░░   64.4%   +64.4      ±4.0  │
    │                                                                                                                      │
    │ DISK  0 look-ups · every key · 209 KiB · 1.2% of the time                                                            │
    │ ▸ not enough is known yet: 0 of 256 look-ups                                                                         │
    │   WHAT IF               HIT RATE                                                              CHANGE     ERROR       │
    │   now       lru 20 MiB  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       —                 —       │
    │   ×0.25     5 MiB       ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       —       —         —       │
    │   ×0.5      10 MiB      ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       —       —         —       │
    │   ×2        40 MiB      ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       —       —         —       │
    │   ×4        80 MiB      ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░       —       —         —       │
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
    "80x24": #"""
     CacheExplorer demo.yaml  ● LIVE  —/s  hit —  fly 0            12:03:00  ?:help
    ┌ What if ────────────────────────────── ↓ more · estimated from live look-ups ┐
    │ MEMORY  20 000 look-ups · every key · 209 KiB · 1.2% of the time             │
    │ ▸ policy adaptive in place of lru would bring +64.4 points (±4.0), and costs │
    │   nothing                                                                    │
    │   WHAT IF                    HIT RATE                      CHANGE     ERROR  │
    │▸  now       lru 100 entries  ░░░░░░░░░░░░░░░░░░░░    0.0%          measured  │
    │   ×0.25     25 entries       ░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   ×0.5      50 entries       ░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   ×2        200 entries      ███████████████████▉   99.3%   +99.3      ±0.0  │
    │   ×4        400 entries      ███████████████████▉   99.3%   +99.3      ±0.0  │
    │   fifo      policy           ░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   clock     policy           ░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   sieve     policy           ░░░░░░░░░░░░░░░░░░░░    0.0%     0.0      ±0.0  │
    │   s3fifo    policy           █████████▍░░░░░░░░░░   47.1%   +47.1      ±0.0  │
    │   wtinylfu  policy           ███████████▌░░░░░░░░   57.8%   +57.8      ±7.0  │
    │ ✓ adaptive  policy           ████████████▉░░░░░░░   64.4%   +64.4      ±4.0  │
    │                                                                              │
    │ DISK  0 look-ups · every key · 209 KiB · 1.2% of the time                    │
    │ ▸ not enough is known yet: 0 of 256 look-ups                                 │
    │   WHAT IF               HIT RATE                           CHANGE     ERROR  │
    └──────────────────────────────────────────────────────────────────────────────┘
     : types a command   get KEY · set KEY VALUE · run WORKLOAD · warn · help
     ?Help :Command /Filter ↵Inspect 1-9 Screen Tab Focus Space Pause wWarning qQuit
    """#,
    "40x10": #"""
     demo.yaml  ● LIVE     12:03:00  ?:help
    ┌ What if ─────────────────────────────┐
    │ MEMORY  20 000 look-ups · every key …│
    │ ▸ adaptive: +64.4 points ±4.0        │
    │   WHAT IF       HIT  CHANGE     ERROR│
    │▸  now          0.0%          measured│
    │   ×0.25        0.0%     0.0      ±0.0│
    │   ×0.5         0.0%     0.0      ±0.0│
    └──────────────────────────────────────┘
     : types a command   get KEY · set KEY …
    """#,
  ]
}
