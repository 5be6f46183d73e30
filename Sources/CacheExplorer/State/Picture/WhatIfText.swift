import CacheEngine
package import CacheEngineHitRatio
package import ExplorerText

/// What other capacities and other policies would have brought, in words that the screen, the answers and the manual share.
package enum WhatIfText {
  /// One question and its answer.
  package struct Row: Equatable, Sendable {
    /// `now`, `×0.25`, `×2`, or the name of a policy.
    package var title: String
    /// The policy of a question about capacities, the capacity of one about policies.
    package var setting: String
    /// From 0 to 1; `nil` until enough is known.
    package var value: Double?
    /// What it gains, in points.
    package var gain: Double?
    /// How far it may be off, in points; `nil` for what was measured.
    package var margin: Double?
    /// It is the cheapest change that helps.
    package var isAdvised = false
  }

  /// A capacity in the level's own unit.
  package static func capacity(_ capacity: Int, _ level: HitRatioObserver.Level) -> String {
    switch level.unit {
    case .cost: Format.bytes(capacity)
    case .entries: "\(Format.count(capacity)) \(capacity == 1 ? "entry" : "entries")"
    }
  }

  /// `61.2%`, and `100%` only of all.
  package static func percent(_ share: Double?) -> String {
    guard let share else { return Format.none }
    return share >= 1 ? "100%" : tenths(shown(share)) + "%"
  }

  /// A share in percent, rounded as ``percent(_:)`` shows it.
  private static func shown(_ share: Double) -> Double {
    share >= 1 ? 100 : (min(share * 100, 99.9) * 10).rounded() / 10
  }

  /// The points between two shares as they are shown, so that whoever subtracts one from the other gets the same.
  package static func points(from first: Double, to second: Double) -> Double { shown(second) - shown(first) }

  /// One decimal, without a locale.
  package static func tenths(_ value: Double) -> String {
    let tenths = Int((min(max(value, -1e6), 1e6) * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  /// `+4.2`.
  package static func gain(_ points: Double?) -> String {
    guard let points else { return Format.none }
    let text = tenths(points)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text == "0.0" ? "0.0" : "+" + text
  }

  /// `±0.6`; `measured` of what was counted.
  package static func margin(_ points: Double?) -> String { points.map { "±" + tenths($0) } ?? "measured" }

  /// The cache as it is, the other capacities, the other policies; without numbers until enough is known.
  package static func rows(_ report: HitRatioReport) -> [Row] {
    let level = report.level
    let now = report.estimates.first
    let advised = report.cheapestImprovement
    func row(_ title: String, _ setting: String, _ index: Int) -> Row {
      guard report.estimates.indices.contains(index), let now, report.estimates[index].isKnown else {
        return Row(title: title, setting: setting)
      }
      let estimate = report.estimates[index]
      return Row(
        title: title, setting: setting, value: estimate.value, gain: points(from: now.value, to: estimate.value),
        margin: index == 0 ? nil : 100 * estimate.margin, isAdvised: advised == estimate)
    }
    var rows = [row("now", "\(level.eviction.name) \(capacity(level.capacity, level))", 0)]
    let factors = Set(level.factors).subtracting([1]).sorted()
    for factor in factors {
      // Those who want no limit write the largest number.
      let other = Int(min(max(0, Double(level.capacity) * factor), 9e18))
      rows.append(row(name(of: factor), capacity(other, level), rows.count))
    }
    // Each is asked about once, as the estimates are.
    var policies: Set = [level.eviction]
    for eviction in level.evictions where policies.insert(eviction).inserted {
      rows.append(row(eviction.name, "policy", rows.count))
    }
    return rows
  }

  package static func name(of factor: Double) -> String { "×" + Format.number(factor) }

  /// How much more has to happen before anything is known.
  private static func unknown(_ report: HitRatioReport) -> String {
    let (found, needed) = (report.samples, HitRatioEstimator.leastSamples)
    return found < needed
      ? "not enough is known yet: \(Format.count(found)) of \(Format.count(needed)) look-ups"
      : "not enough is known yet: \(Format.count(found)) look-ups tell too little"
  }

  /// The cheapest change that helps, or that nothing does.
  package static func advice(_ report: HitRatioReport) -> String {
    guard let now = report.estimates.first else {
      return unknown(report)
    }
    guard let change = report.cheapestImprovement else {
      let saving = report.cheapestSaving.map { "; \(capacity($0.capacity, report.level)) would do as well" }
      return none("change", of: report.estimates.filter { $0.capacity >= report.level.capacity }, now) + (saving ?? "")
    }
    let gain = "\(gain(points(from: now.value, to: change.value))) points (\(margin(100 * change.margin)))"
    let policies = report.estimates.filter { $0.capacity == report.level.capacity }
    return change.eviction == now.eviction
      ? "\(capacity(change.capacity, report.level)) in place of \(capacity(report.level.capacity, report.level)) would bring \(gain); \(none("other policy", of: policies, now))"
      : "policy \(change.eviction.name) in place of \(now.eviction.name) would bring \(gain), and costs nothing"
  }

  /// Where none of some changes is advised: none gains anything, or what the table shows may be chance.
  private static func none(_ what: String, of changes: [HitRatioEstimate], _ now: HitRatioEstimate) -> String {
    changes.contains { $0.value - now.value >= 0.01 } ? "no \(what) is known to help yet" : "no \(what) helps"
  }

  /// One row in full.
  package static func detail(_ row: Row, _ report: HitRatioReport) -> RowDetail {
    let name = report.level.name
    var detail = RowDetail("\(name.uppercased())  \(row.title)  \(row.setting)")
    guard let value = row.value, let now = report.estimates.first?.value else {
      detail.add("", unknown(report), .faint)
      return detail
    }
    let isNow = row.margin == nil
    detail.add(
      "", isNow ? "the level as it is; counted, not estimated" : "what the level would have answered instead")
    detail.add("hit rate", percent(value) + (isNow ? "" : ", now \(percent(now))"), .key)
    if !isNow {
      let more = Int(((value - now) * Double(report.requests)).rounded())
      detail.add("change", "\(gain(row.gain)) points, \(margin(row.margin)): 95 of 100 estimates are closer")
      detail.add(
        "hits",
        "\(Format.count(abs(more))) \(more < 0 ? "fewer" : "more") of \(Format.counted(report.requests, "look-up"))")
      let field = row.setting == "policy" ? "policy" : report.level.unit == .cost ? "capacity" : "count"
      detail.add("try it", "change \(name).\(field) in the file (5 shows where), and r reads it again", .faint)
    }
    if row.isAdvised { detail.add("", "the cheapest change that helps", .hit) }
    detail.add("known from", basis(report), .faint)
    return detail
  }

  /// The same where there is little room.
  package static func shortAdvice(_ report: HitRatioReport) -> String {
    guard let now = report.estimates.first else { return "not enough is known yet" }
    guard let change = report.cheapestImprovement else {
      return none("change", of: report.estimates.filter { $0.capacity >= report.level.capacity }, now)
    }
    let name = change.eviction == now.eviction ? capacity(change.capacity, report.level) : change.eviction.name
    return "\(name): \(gain(points(from: now.value, to: change.value))) points \(margin(100 * change.margin))"
  }

  /// What is to be said where events never came; `nil` where all did.
  package static func unseen(_ count: Int) -> String? {
    guard count > 0 else { return nil }
    return
      "\(Format.count(count)) \(count == 1 ? "event was" : "events were") dropped on the way from the app: "
      + "the estimates may be off by more than their error says"
  }

  /// What the numbers are known from.
  package static func basis(_ report: HitRatioReport) -> String {
    let share = report.rate >= 1 ? "every key" : "1 key in \(Int((1 / report.rate).rounded()))"
    var parts = [Format.counted(report.requests, "look-up"), share, Format.bytes(report.bytes)]
    if let time = report.timeShare { parts.append("\(tenths(100 * time))% of the time") }
    return parts.joined(separator: " · ")
  }

  /// Everything about a level, a line for each question.
  package static func lines(_ report: HitRatioReport) -> [String] {
    func pad(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    func lead(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let rows = rows(report).map { row in
      "  " + pad(row.title, 10) + pad(row.setting, 20) + lead(percent(row.value), 7) + lead(gain(row.gain), 8)
        + lead(row.value == nil ? "" : margin(row.margin), 10) + (row.isAdvised ? "  ◀ the cheapest that helps" : "")
    }
    return ["\(report.level.name): \(advice(report))", "  " + basis(report)] + rows
  }

  package static func json(_ report: HitRatioReport) -> JSONText {
    func points(_ value: Double) -> JSONText { .fraction(value) }
    func estimate(_ estimate: HitRatioEstimate) -> JSONText {
      .object([
        ("policy", .text(estimate.eviction.name)), ("capacity", .number(estimate.capacity)),
        ("hitRate", .fraction(estimate.value)), ("error", .fraction(estimate.margin)),
      ])
    }
    let level = report.level
    return .object([
      ("name", .text(level.name)), ("policy", .text(level.eviction.name)), ("capacity", .number(level.capacity)),
      ("unit", .text(level.unit == .cost ? "bytes" : "entries")), ("lookups", .number(report.requests)),
      ("hits", .number(report.hits)), ("samples", .number(report.samples)), ("keyShare", .fraction(report.rate)),
      ("memoryBytes", .number(report.bytes)), ("timeShare", report.timeShare.map(JSONText.fraction)),
      ("estimates", .array(report.estimates.map(estimate))),
      ("cheapest", report.cheapestImprovement.map(estimate)), ("saving", report.cheapestSaving.map(estimate)),
      ("advice", .text(advice(report))),
    ])
  }
}
