extension Duration {
  /// The duration as messages tell it: `250 ms`, `1.5 s`, `1 µs`, and `2 h` where a larger unit is exact.
  ///
  /// Three decimals at most.
  package var text: String {
    let nanoseconds = clampedNanoseconds
    let (sign, length) = (nanoseconds < 0 ? "-" : "", nanoseconds.magnitude)
    for (unit, name) in [(86_400_000_000_000, "d"), (3_600_000_000_000, "h"), (60_000_000_000, "min")]
      as [(UInt64, String)]
    where length >= unit && length.isMultiple(of: unit) {
      return "\(sign)\(length / unit) \(name)"
    }
    let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")]
    guard let (unit, name) = units.first(where: { length >= $0.0 }) else { return "\(sign)\(length) ns" }
    let thousandths = (length % unit * 1_000 + unit / 2) / unit
    let whole = length / unit + thousandths / 1_000
    var decimals = "\(thousandths % 1_000 + 1_000)".dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return "\(sign)\(whole)\(decimals.isEmpty ? "" : ".\(decimals)") \(name)"
  }
}
