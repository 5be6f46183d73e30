import ExplorerCache
import ExplorerState
import ExplorerText

/// Something that two caches are compared by.
struct ComparedMeasure: Hashable, Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case hitRate = "hit rate"
    case sourceCalls = "calls to the source"
    case failures = "failed requests"
    case entries = "entries"
    case bytes = "bytes"
    case median = "latency, median"
    case slowest = "latency, 99 of 100"
    case time = "time for all requests"
  }

  var kind: Kind
  /// `nil` for the whole cache.
  var level: String?

  var name: String { level.map { "\($0) \(kind.rawValue)" } ?? kind.rawValue }

  /// More is better, less is better, or neither.
  var wantsMore: Bool? {
    switch kind {
    case .hitRate: true
    case .sourceCalls, .failures, .median, .slowest, .time: false
    case .entries, .bytes: nil
    }
  }

  /// It is counted, and not timed.
  var isCounted: Bool {
    switch kind {
    case .hitRate, .sourceCalls, .failures, .entries, .bytes: true
    case .median, .slowest, .time: false
    }
  }

  /// Smaller differences do not matter, whatever the spread: a tenth of a point, else a hundredth of the larger value.
  func isSmall(_ first: Double, _ second: Double) -> Bool {
    kind == .hitRate ? abs(first - second) < 0.001 : abs(first - second) < 0.01 * max(abs(first), abs(second))
  }

  func text(_ value: Double) -> String {
    switch kind {
    case .hitRate: WhatIfText.percent(value)
    case .sourceCalls, .failures, .entries: Format.count(Int(value.rounded()))
    case .bytes: Format.bytes(Int(value.rounded()))
    case .median, .slowest, .time: Format.latency(nanoseconds: Int64(value.rounded()))
    }
  }

  /// By how much the second differs from the first.
  func difference(_ first: Double, _ second: Double) -> String {
    guard kind != .hitRate else { return WhatIfText.gain(WhatIfText.points(from: first, to: second)) + " points" }
    let sign = second < first ? "−" : "+"
    let share = first == 0 ? "" : " (\(WhatIfText.gain(100 * (second - first) / first))%)"
    return first == second ? "0" : sign + text(abs(second - first)) + share
  }
}
