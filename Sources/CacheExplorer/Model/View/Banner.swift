import CacheEngine
import ExplorerState
import ExplorerText

/// What a memory warning did and what that cost; stays until it is dismissed.
enum Banner {
  /// From all that there is to say to what must be said on the narrowest screen: how much the hit rate fell, and since when it
  /// is back.
  private enum Detail: CaseIterable { case all, counts, sizes, noLevels, noTime, cost }

  static func draw(_ model: Model, _ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    guard let warning = picture.warning else { return }
    let time = Format.clock(seconds: model.timeOfDay(warning.time) / 1_000)
    let ends: [DisplayText] = ["Esc: dismiss ", "Esc "]
    var choices = Detail.allCases.flatMap { detail in
      let text = text(warning, picture, time, detail)
      return ends.map { (text: text, end: $0) }
    }
    choices.append((text: choices[choices.count - 1].text, end: ""))
    let choice = choices.first { $0.text.width + 1 + $0.end.width <= rect.width } ?? choices[choices.count - 1]
    canvas.fill(rect, style: Style.warning.reversed)
    canvas.write(
      choice.text, x: rect.x, y: rect.y, style: Style.warning.reversed, limit: max(0, rect.width - choice.end.width))
    canvas.write(choice.end, endingAt: rect.right, y: rect.y, style: Style.warning.reversed)
  }

  private static func text(
    _ warning: WarningReport, _ picture: Picture, _ time: String, _ detail: Detail
  ) -> DisplayText {
    let what = what(warning, picture, detail)
    let cost = cost(warning, detail)
    let sign: DisplayText =
      switch detail {
      case .all, .counts: " ▲ MEMORY WARNING \(time)  "
      case .sizes: " ▲ WARNING \(time)  "
      case .noLevels: " ▲ WARNING  "
      case .noTime, .cost: " ▲ "
      }
    // Where nobody had asked the level before, all that is known is what went.
    guard detail == .cost, cost.width > 0 else { return sign + what + (cost.width > 0 ? "; " + cost : "") }
    return sign + cost
  }

  /// What each level dropped.
  private static func what(_ warning: WarningReport, _ picture: Picture, _ detail: Detail) -> DisplayText {
    var parts = warning.parts.filter { picture.levels.indices.contains($0.level) }
    if parts.contains(where: { $0.dropped > 0 }) { parts.removeAll { $0.dropped == 0 } }
    guard detail == .all || detail == .counts || detail == .sizes else {
      return "−\(Format.bytes(parts.reduce(0) { $0.saturated(adding: $1.cost) }))"
    }
    var text = DisplayText()
    for (index, part) in parts.enumerated() {
      text += DisplayText(index == 0 ? "" : ", ") + DisplayText(picture.levels[part.level].name.uppercased())
      guard detail != .sizes else {
        text += " −\(Format.bytes(part.cost))"
        continue
      }
      let noun = detail == .counts ? "" : part.dropped == 1 ? " entry" : " entries"
      text += " dropped \(Format.count(part.dropped))\(noun) (\(Format.bytes(part.cost)))"
      if detail == .all { text += " in \(Format.latency(nanoseconds: part.duration.clampedNanoseconds))" }
    }
    return text
  }

  /// How far the hit rate fell, and how long that lasted; empty where there was no rate before, or nobody has asked since.
  private static func cost(_ warning: WarningReport, _ detail: Detail) -> DisplayText {
    guard let before = warning.before, let lowest = warning.lowest else { return DisplayText() }
    let passed = warning.recovered.map { recovered in
      Format.span(seconds: warning.time.duration(to: recovered).clampedNanoseconds / 1_000_000_000)
    }
    let outlook = passed.map { "recovered in \($0)" } ?? "recovering"
    let isShort = detail != .all && detail != .counts
    return DisplayText("hit\(isShort ? "" : " rate") \(percent(before)) → \(percent(lowest)), \(outlook)")
  }

  private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))%" }
}

extension Int {
  /// What a level tells of itself may be anything.
  fileprivate func saturated(adding other: Int) -> Int {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return isTooMuch ? (other > 0 ? .max : .min) : sum
  }
}
