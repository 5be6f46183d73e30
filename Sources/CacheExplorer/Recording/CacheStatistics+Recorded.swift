import CacheEngine
import ExplorerCache
import ExplorerText

// Counts as they stand in a recording: sums in the order of their lists, and of a histogram only the buckets in use.

extension CacheStatistics.Snapshot: Recorded {
  var recorded: JSONText { .fields(levels, operators, Self.sums.recorded(of: self), served, latency) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init()
    (levels, operators) = (try fields.next(), try fields.next())
    try Self.sums.read(try fields.next(), into: &self)
    served = try fields.next(Counts.self).counts
    latency = try fields.next()
  }
}

extension CacheStatistics.Level: Recorded {
  var recorded: JSONText {
    .fields(
      Self.sums.recorded(of: self), Dictionary(uniqueKeysWithValues: misses.map { ($0.key.rawValue, $0.value) }),
      Dictionary(uniqueKeysWithValues: removals.map { ($0.key.rawValue, $0.value) }), hitLatency, missLatency,
      errorLatency)
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init()
    try Self.sums.read(try fields.next(), into: &self)
    for (reason, count) in try fields.next(Counts.self).counts { misses[MissReason(rawValue: reason)] = count }
    for (cause, count) in try fields.next(Counts.self).counts {
      removals[try RemovalCause(recordedValue: cause.recorded)] = count
    }
    (hitLatency, missLatency, errorLatency) = (try fields.next(), try fields.next(), try fields.next())
  }
}

extension CacheStatistics.Operator: Recorded {
  var recorded: JSONText { .fields(Self.sums.recorded(of: self), circuit?.rawValue, circuitSince) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init()
    try Self.sums.read(try fields.next(), into: &self)
    circuit = try fields.next(String?.self).map { word throws(RecordedFault) in try .init(recordedValue: word.recorded)
    }
    circuitSince = try fields.next()
  }
}

extension LatencyHistogram: Recorded {
  /// The longest, then the numbers and the counts of buckets in turns.
  var recorded: JSONText {
    guard count > 0 else { return .null }
    return .fields(max, buckets.flatMap { [$0.number, Int(clamping: $0.count)] })
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    if case .null = json {
      self.init()
      return
    }
    var fields = try RecordedFields(json)
    let longest = try fields.next(Duration.self)
    let numbers = try fields.next([Int].self)
    var buckets: [(number: Int, count: UInt64)] = []
    for place in stride(from: 0, to: numbers.count - 1, by: 2) {
      buckets.append((numbers[place], UInt64(try Counts.checked(numbers[place + 1]).magnitude)))
    }
    guard let histogram = LatencyHistogram(buckets: buckets, max: longest) else {
      throw RecordedFault("a histogram has no such bucket")
    }
    self = histogram
  }
}

/// Counts by name.
private struct Counts: Recorded {
  /// More is counted by nobody; what a file may say must not overflow when it is added up.
  private static let most = 1 << 40

  var counts: [String: Int]
  var recorded: JSONText { counts.recorded }

  init(recorded json: JSONText) throws(RecordedFault) {
    counts = try [String: Int](recorded: json)
    for count in counts.values { _ = try Self.checked(count) }
  }

  static func checked(_ count: Int) throws(RecordedFault) -> Int {
    guard (-most...most).contains(count) else { throw RecordedFault("nobody counts to \(count)") }
    return count
  }
}

extension Array {
  fileprivate func recorded<Root>(of root: Root) -> JSONText where Element == WritableKeyPath<Root, Int> {
    map { root[keyPath: $0] }.recorded
  }

  fileprivate func read<Root>(_ numbers: [Int], into root: inout Root) throws(RecordedFault)
  where Element == WritableKeyPath<Root, Int> {
    guard numbers.count == count else { throw RecordedFault("\(count) counts are missing") }
    for (path, number) in zip(self, numbers) { root[keyPath: path] = try Counts.checked(number) }
  }
}
