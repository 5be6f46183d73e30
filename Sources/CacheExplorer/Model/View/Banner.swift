import CacheEngine
import ExplorerText

/// What a memory warning did; stays until it is dismissed.
enum Banner {
  static func draw(_ model: Model, _ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    guard let warning = picture.warning else { return }
    let time = Format.clock(seconds: model.timeOfDay(warning.time) / 1_000)
    let end: DisplayText = "Esc: dismiss "
    var text = what(warning, picture, time, isShort: false)
    if text.width + 1 + end.width > rect.width { text = what(warning, picture, time, isShort: true) }
    if let before = warning.before, let lowest = warning.lowest {
      let dip: DisplayText = "; hit rate \(percent(before)) → \(percent(lowest)), \(outlook(warning))"
      if text.width + dip.width + end.width < rect.width { text += dip }
    }
    canvas.fill(rect, style: Style.warning.reversed)
    canvas.write(text, x: rect.x, y: rect.y, style: Style.warning.reversed, limit: max(0, rect.width - end.width))
    canvas.write(end, endingAt: rect.right, y: rect.y, style: Style.warning.reversed)
  }

  private static func what(
    _ warning: WarningReport, _ picture: Picture, _ time: String, isShort: Bool
  ) -> DisplayText {
    var text: DisplayText = " ▲ MEMORY WARNING \(time)  "
    for (index, part) in warning.parts.enumerated() where picture.levels.indices.contains(part.level) {
      text += DisplayText(index == 0 ? "" : ", ") + DisplayText(picture.levels[part.level].name.uppercased())
      let noun = isShort ? "" : part.dropped == 1 ? " entry" : " entries"
      text += " dropped \(Format.count(part.dropped))\(noun) (\(Format.bytes(part.cost)))"
      if !isShort { text += " in \(Format.latency(nanoseconds: part.duration.clampedNanoseconds))" }
    }
    return text
  }

  private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))%" }

  private static func outlook(_ warning: WarningReport) -> String {
    guard let recovered = warning.recovered else { return "recovering" }
    return
      "recovered in \(Format.span(seconds: warning.time.duration(to: recovered).clampedNanoseconds / 1_000_000_000))"
  }
}
