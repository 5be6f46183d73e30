import CacheEngine
import ExplorerText

/// What a figure on the screen means: its definition, unit, window, and the counter that it is made of.
struct Figure: Sendable {
  var name: String
  /// What it is now, for the row that is chosen; empty if the figure has no single value.
  var value = ""
  var definition: String
  var unit: String
  /// The time that it is about.
  var window: String
  /// The events that it counts.
  var source: String
}

/// The figures of each panel, with what they are now.
enum FigureTable {
  static func figures(_ model: Model) -> (title: String, figures: [Figure]) {
    switch model.focus {
    case .entries:
      let overview = model.page == .overview ? levels(model) : []
      return (model.page == .overview ? "Levels and Entries" : "Entries", overview + entries(model))
    case .levels: return ("Levels", levels(model))
    case .inFlight: return ("In flight", inFlight(model))
    case .latency: return ("Latency", latency(model))
    case .log: return ("Log", log(model))
    case .requests: return ("Requests", requests(model))
    case .config: return ("Config", config)
    case .models, .relations: return ("Models", models)
    case .whatIf: return ("What if", whatIf)
    }
  }

  private static let session = "since the start"
  private static let last = "last \(SecondRing.rateWindow) s"
  /// The last seconds are the one under way and the five before it.
  private static let windows = session + "; with R the \(last)"

  private static func levels(_ model: Model) -> [Figure] {
    let picture = model.shown
    var figures: [Figure] = []
    for (index, level) in picture.levels.enumerated() {
      let (traffic, lately) = (picture.traffic[index], picture.traffic[index].recent(at: picture.now))
      let name = level.name.uppercased()
      func served(_ counts: CacheStatistics.Snapshot) -> (of: Int, by: Int) {
        (picture.levels.reduce(0) { $0 + (counts.served[$1.name] ?? 0) }, counts.served[level.name] ?? 0)
      }
      let (all, recent) = (served(picture.requests.count), served(picture.requests.recent(at: picture.now)))
      if !level.isOrigin {
        figures.append(
          Figure(
            name: "\(name) hit rate (conditional)",
            value:
              "\(percent(traffic.hits, traffic.answered)) = \(Format.count(traffic.hits)) / \(Format.count(traffic.answered)); \(last) \(percent(lately.hits, lately.answered))",
            definition:
              "hits of this level ÷ look-ups that reached this level and were answered; each look-up weighs the same",
            unit: "percent", window: windows, source: "the engine's counts hits ÷ answered of \(level.name)"))
      }
      figures.append(
        Figure(
          name: "\(name) served by (global share)",
          value:
            "\(percent(all.by, all.of)) = \(Format.count(all.by)) / \(Format.count(all.of)); \(last) \(percent(recent.by, recent.of))",
          definition:
            "reads answered by this level ÷ reads answered by any level; callers that joined a load are not in it",
          unit: "percent", window: windows, source: "the engine's count served of \(level.name)"))
    }
    figures.append(
      Figure(
        name: "look-ups = hits + misses + refused + errors",
        value: picture.traffic.map { "\(Format.count($0.lookups))" }.joined(separator: " · "),
        definition: "every look-up ends as one of these, is cancelled or still pending",
        unit: "look-ups", window: session, source: "the engine's counts"))
    figures.append(
      Figure(
        name: "req/s", value: Format.perSecond(picture.requests.seconds.rate(at: picture.now) { $0.asked }),
        definition: "calls to the whole cache, joined ones included", unit: "calls a second",
        window: "mean of the last \(SecondRing.rateWindow) whole seconds", source: "the engine's count of calls"))
    figures.append(
      Figure(
        name: "joined", value: Format.count(picture.requests.count.joined),
        definition: "reads answered by a load that another caller had begun: neither a hit nor a miss of their own",
        unit: "reads", window: session, source: "the engine's count joined"))
    return figures
  }

  private static func percent(_ part: Int, _ whole: Int) -> String {
    whole > 0 ? Format.percent(part, of: whole) + "%" : Format.none
  }

  private static func entries(_ model: Model) -> [Figure] {
    let row = model.list.current(in: model.shown)
    let now = model.shown.now
    return [
      Figure(
        name: "SIZE", value: row?.size.map { "\(Format.bytes($0)) = \($0) B" } ?? Format.none,
        definition: "what the entry weighs in the level that told last", unit: "bytes", window: "now",
        source: "cost of the last hit or store"),
      Figure(
        name: "AGE", value: row?.created.map { span($0.duration(to: now)) } ?? Format.none,
        definition:
          "since the oldest copy was stored, if that was seen; in the list rounded down to 5 s, to tens of seconds, to minutes",
        unit: "time",
        window: "now",
        source: "time of the event stored"),
      Figure(
        name: "TTL LEFT", value: row?.topmost?.deadline.map { span(now.duration(to: $0)) } ?? "no expiry",
        definition:
          "until the copy in the topmost level that has one expires, in the list rounded up by a tenth at most; the bar is the share of its whole life",
        unit: "time", window: "now", source: "deadline of the last hit or store"),
      Figure(
        name: "HITS", value: row.map { Format.count($0.hits) } ?? Format.none,
        definition: "look-ups that any level answered with this key", unit: "look-ups", window: session,
        source: "events hit of all levels but origins"),
      Figure(
        name: "LAST", value: row.map { span($0.lastTouch.duration(to: now)) } ?? Format.none,
        definition: "since the key was last stored or hit; in the list as AGE", unit: "time", window: "now",
        source: "events stored, hit"),
    ]
  }

  private static func span(_ duration: Duration) -> String {
    Format.span(seconds: duration.clampedNanoseconds / 1_000_000_000)
  }

  private static func inFlight(_ model: Model) -> [Figure] {
    [
      Figure(
        name: "WAIT ×n", value: Format.count(model.shown.inFlight.reduce(0) { $0 + $1.callers }),
        definition: "callers that wait for this load, its leader included", unit: "callers", window: "now",
        source: "events load, join, leave"),
      Figure(
        name: "ELAPSED", definition: "since the load began; the bar is full at the level's p99, ! is past it",
        unit: "time", window: "now, p99 since the start", source: "event load, latencies of the level"),
    ]
  }

  private static func latency(_ model: Model) -> [Figure] {
    let counts = model.shown.traffic.map { Format.count(Int(clamping: $0.latency.count)) }.joined(separator: " · ")
    return [
      Figure(
        name: "p50 p90 p99 p99.9", definition: "the latency that this share of the look-ups did not exceed",
        unit: "time",
        window: windows,
        source: "the engine's histogram, 16 steps for each doubling: exact to 6 %, rounded up"),
      Figure(
        name: "n", value: counts, definition: "look-ups measured, level by level; “a” tells hits from misses",
        unit: "look-ups", window: windows, source: "the same histogram"),
      Figure(
        name: "columns",
        definition: "x is the logarithm of the latency, the height that of the count: one slow miss shows",
        unit: "look-ups", window: windows, source: "the same histogram"),
      Figure(
        name: "max, worst",
        definition: "the longest look-up; Enter opens the request of the longest that was told", unit: "time",
        window: windows, source: "the same histogram; its request from the events"),
    ]
  }

  private static func log(_ model: Model) -> [Figure] {
    [
      Figure(
        name: "lost", value: Format.count(model.shown.log.lost),
        definition: "events that came faster than the screen takes them and were dropped, the oldest first",
        unit: "events",
        window: session, source: "the ring between engine and screen"),
      Figure(
        name: "hits", value: Format.count(model.log.matches(in: model.shown.log)),
        definition: "lines of the shown severities that match the search", unit: "lines",
        window: "the last \(Format.count(LogRing.capacity)) lines", source: "the log"),
    ]
  }

  private static func requests(_ model: Model) -> [Figure] {
    let reads = model.shown.requests.count
    let writes = reads.writes
    return [
      Figure(
        name: "requests", value: Format.count(reads.requests + writes.requests),
        definition: "calls to the whole cache: served + joined + missed + written + failed + cancelled + under way",
        unit: "calls", window: session, source: "the engine's counts"),
      Figure(
        name: "served", value: Format.count(reads.answered),
        definition: "reads that a level or an operator answered; the sum of all “served by”", unit: "reads",
        window: session, source: "the engine's counts served"),
      Figure(
        name: "joined", value: Format.count(reads.joined),
        definition: "reads answered by a load that another caller had begun", unit: "reads", window: session,
        source: "the engine's count joined"),
      Figure(
        name: "TOOK", definition: "from the call to its answer; … is still under way", unit: "time",
        window: "the request",
        source: "end of the request"),
      Figure(
        name: "lost", value: Format.count(model.shown.lost),
        definition:
          "events that never came to the screen: requests, entries and reads in flight are a part then, the figures are whole",
        unit: "events",
        window: session, source: "the ring between engine and screen"),
    ]
  }

  private static let config = [
    Figure(
      name: "origin", definition: "where a value is written, or “default”", unit: "file:line",
      window: "when it was loaded",
      source: "the configuration file")
  ]

  private static let whatIf = [
    Figure(
      name: "HIT RATE",
      definition: "what share of the look-ups the level would have answered; “now” is counted, not estimated",
      unit: "percent of the level's look-ups", window: session + " or the last whatif --reset",
      source: "ghost caches of hashes, asked for a sample of the keys (SHARDS, FAST 2015)"),
    Figure(
      name: "ERROR", definition: "how far the estimate may be off: 95 of 100 are closer", unit: "points",
      window: "as the hit rate", source: "the spread between 64 groups of keys"),
    Figure(
      name: "1 key in n",
      definition: "how many keys are looked at: fewer, whenever it takes more than 5 % of the requests' time or 8 MiB",
      unit: "keys", window: "now", source: "the time of the processor that the ghost caches took"),
    Figure(
      name: "the cheapest that helps",
      definition: "another policy, else the least capacity, if it gains a point and more than its error",
      unit: "points", window: "as the hit rate", source: "the estimates"),
  ]

  private static let models = [
    Figure(
      name: "TO, FROM", definition: "relations to other models, and from others to this one", unit: "relations",
      window: "now", source: "the model cache"),
    Figure(
      name: "OBS", definition: "observers of this very model", unit: "observers", window: "now",
      source: "the model cache"),
    Figure(
      name: "TOLD", definition: "since an observer of it was last called", unit: "time", window: session,
      source: "calls of the explorer's observers"),
  ]
}
