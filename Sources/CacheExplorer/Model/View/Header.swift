import CacheEngine
import ExplorerState
import ExplorerText

enum Header {
  private static let help: DisplayText = "?:help"

  static func draw(_ model: Model, _ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    let (spans, clock) = content(model, picture, in: rect)
    canvas.write(spans, x: rect.x, y: rect.y, limit: rect.width)
    // Plain: it changes every second, and a colour is most of what that costs.
    if let clock { canvas.write(clock, endingAt: rect.right - 1, y: rect.y) }
  }

  /// Where it names the key for help, if it has room for that.
  static func helpPlace(_ model: Model, _ picture: Picture, in rect: Rect) -> Rect? {
    guard content(model, picture, in: rect).clock != nil else { return nil }
    return Rect(x: rect.right - 1 - help.width, y: rect.y, width: help.width, height: 1)
  }

  /// What stands at its beginning and at its end.
  private static func content(
    _ model: Model, _ picture: Picture, in rect: Rect
  ) -> (spans: [Span], clock: DisplayText?) {
    let clock = DisplayText(Format.clock(seconds: model.timeOfDay(picture.now) / 1_000)) + "  " + help
    let isWide = rect.width >= 100
    let errors = ErrorShare(picture)
    let sign = errors.sign(isWide: rect.width >= 140)
    // Errors must push nothing out where there is less room.
    let gap: DisplayText = isWide && (rect.width >= 140 || sign == nil) ? "   " : "  "
    var spans = [Span(" ")]
    if rect.width >= 64 { spans += [Span("CacheExplorer", .title), Span(isWide ? "  " : " ")] }
    spans += [Span(DisplayText(model.title).shortened(to: room(forTitle: rect.width))), Span("  ")]
    spans += state(model)
    if let recording = model.recording { spans += [Span(gap), Span(DisplayText(recording.text), .warning)] }
    let rate = Format.rate(picture.requests.seconds.rate(at: picture.now) { $0.asked })
    let lost: DisplayText = "lost \(Format.count(picture.lost))"
    let optional: [Span] = [
      picture.lost > 0 ? Span(lost, .warning) : Span(""),
      Span("\(rate)\(isWide ? " req/s" : "/s")"),
      Span(DisplayText(sign ?? ""), errors.style),
      Span(hitRate(picture, isWide: isWide), .hit),
      Span("\(isWide ? "in flight" : "fly") \(picture.inFlightCount)"),
      picture.lost == 0 && isWide ? Span(lost) : Span(""),
    ]
    var used = spans.reduce(0) { $0 + $1.text.width }
    let room = rect.width - clock.width - 3
    for span in optional where span.text.width > 0 && used + gap.width + span.text.width <= room {
      spans += [Span(gap), span]
      used += gap.width + span.text.width
    }
    return (spans, used <= room ? clock : nil)
  }

  /// As much as it may take from the figures; the same for every title, so that nothing moves.
  private static func room(forTitle width: Int) -> Int { width >= 100 ? max(24, width - 112) : 13 }

  private static func state(_ model: Model) -> [Span] {
    guard let frozen = model.frozen else {
      return [model.attachment?.sign { model.timeOfDay(sinceEpoch: $0) } ?? Span("● LIVE", .hit)]
        + (model.speed == 1 ? [] : [Span(" ×\(Format.number(model.speed))", .warning)])
    }
    // Events and not seconds: what stands still need not be drawn again.
    let behind = model.live.eventCount - frozen.eventCount
    var spans = [Span("‖ PAUSED · \(Format.count(behind)) \(behind == 1 ? "event" : "events") behind", .warning)]
    guard let travel = model.travel else { return spans }
    if travel.position > 0 {
      spans.append(Span(" · event \(travel.position) of \(travel.count)\(travel.isCut ? "+" : "")", .warning))
    } else if travel.position < 0 {
      let text = "\(Format.count(-travel.position)) of \(Format.count(travel.countBefore)) before the pause"
      spans.append(Span(DisplayText(" · " + text), .warning))
    }
    return spans
  }

  /// Of the reads that ended, those which a level above the origin served.
  ///
  /// Joined ones are neither.
  private static func hitRate(_ picture: Picture, isWide: Bool) -> DisplayText {
    let sources = picture.levels.filter(\.isOrigin).map(\.name) + picture.operators.map(\.name)
    func rate(_ reads: CacheStatistics.Snapshot) -> String {
      let origins = sources.reduce(0) { $0 + (reads.served[$1] ?? 0) }
      let text = Format.percent(max(0, reads.answered - origins), of: reads.ended)
      return text == Format.none ? text : text + "%"
    }
    let (all, lately) = (picture.requests.count, picture.requests.recent(at: picture.now))
    let window = "\(SecondRing.rateWindow) s"
    guard isWide else { return DisplayText(picture.isRecent ? "\(window) \(rate(lately))" : "hit \(rate(all))") }
    guard all.ended > 0 else { return "hit —" }
    return DisplayText("hit \(rate(all)) of \(Format.count(all.ended)), \(window) \(rate(lately))")
  }
}
