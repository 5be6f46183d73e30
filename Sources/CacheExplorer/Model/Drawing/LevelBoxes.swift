import CacheEngine
import ExplorerState
import ExplorerText

/// The levels as boxes from left to right, joined by arrows: what is passed on, and what is copied back.
enum LevelBoxes {
  static func draw(_ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    let row = BoxRow(picture)
    row.draw(picture, in: rect, box: boxHeight(row, in: rect), on: &canvas)
  }

  /// Where each level's box stands.
  static func places(_ picture: Picture, in rect: Rect) -> [(level: Int, box: Rect)] {
    let row = BoxRow(picture)
    return row.places(picture, in: rect, box: boxHeight(row, in: rect))
  }

  private static func boxHeight(_ row: BoxRow, in rect: Rect) -> Int {
    row.height(box: BoxRow.boxHeight) <= rect.height ? BoxRow.boxHeight : BoxRow.smallBoxHeight
  }

  /// Where the history of a level stands in its box, a column for each second.
  static func history(_ picture: Picture, _ index: Int, in box: Rect) -> Rect? {
    guard picture.levels[index].isOrigin else {
      // Behind the label and the share, before the rate and a blank.
      let past = picture.traffic[index].seconds
      let rates = [past.rate(at: picture.now) { $0.hits }, past.rate(at: picture.now) { $0.misses }]
      let widest = rates.map { DisplayText(Format.perSecond($0)).width }.max() ?? 0
      let columns = min(box.width - 18 - max(5, widest), 60)
      return columns > 3 ? Rect(x: box.x + 15, y: box.y + 1, width: columns, height: 2) : nil
    }
    let rate = Format.perSecond(picture.traffic[index].seconds.rate(at: picture.now) { $0.asked })
    let columns = min(box.width - 3 - DisplayText(rate).width - 2, 60)
    return columns > 3 ? Rect(x: box.right - 2 - columns, y: box.y + 1, width: columns, height: 1) : nil
  }

  /// `pool`: The operator that does no more than to pool the level, which its edge then tells.
  static func drawBox(
    _ picture: Picture, _ index: Int, pool: Int?, in box: Rect, on canvas: inout Canvas
  ) {
    let level = picture.levels[index]
    let name = DisplayText(level.name.uppercased())
    canvas.box(
      box, title: "\(LevelRow.number(index, of: picture.levels))" + name, right: DisplayText(level.capacity))
    if let fault = level.fault {
      let text = DisplayText(" ✕ \(fault) ").clipped(to: max(0, box.width - name.width - 6))
      canvas.write(text, endingAt: box.right - 1, y: box.y, style: .warning)
    }
    drawNotes(picture, index, pool.map { OperatorText(picture, ChainTree.Held(index: $0)) }, in: box, on: &canvas)
    if level.isOrigin {
      drawOrigin(picture, index, history(picture, index, in: box), in: box, on: &canvas)
    } else {
      drawStorage(picture, index, history(picture, index, in: box), in: box, on: &canvas)
    }
    if let warning = picture.warning, warning.parts.contains(where: { $0.level == index }),
      warning.time.duration(to: picture.now) < WarningReport.flash
    {
      canvas.reverse(box.inner)
    }
  }

  /// The width in which the box of a level cuts nothing: its name beside its capacity or fault, its figures, its notes.
  static func neededWidth(_ picture: Picture, _ index: Int, pool: Int?) -> Int {
    let level = picture.levels[index]
    let name = DisplayText("\(LevelRow.number(index, of: picture.levels))" + level.name.uppercased()).width
    var widths = [name + 4]
    if !level.capacity.isEmpty { widths.append(name + DisplayText(level.capacity).width + 7) }
    if let fault = level.fault { widths.append(name + DisplayText(fault).width + 10) }
    let notes = notes(picture, index, pool.map { OperatorText(picture, ChainTree.Held(index: $0)) })
    if !notes.isEmpty { widths.append(notes.reduce(4) { $0 + $1.text.width }) }
    func width(_ items: [String]) -> Int { items.reduce(-2) { $0 + 2 + DisplayText($1).width } }
    if level.isOrigin {
      widths.append(width(ErrorShare(picture, level: index).items(isRecent: picture.isRecent)) + 3)
    } else {
      widths.append(width(Array(latencies(picture, index).prefix(3))) + 4)
    }
    return widths.max() ?? 0
  }

  /// What is out of the ordinary, the worst first.
  private static func notes(_ picture: Picture, _ index: Int, _ pool: OperatorText?) -> [Span] {
    let (level, traffic) = (picture.levels[index], picture.figures(index))
    let errors = ErrorShare(picture, level: index)
    var notes: [Span] = LevelState.all(picture, level: index).compactMap { state in
      // Its room and its link tell whether it is full or deaf.
      guard state.kind == .failing || state.kind == .slow else { return nil }
      return Span(state.sign + " " + state.word, state.style)
    }
    if traffic.errors > 0 {
      let told = level.isOrigin ? "" : " " + errors.items(isRecent: picture.isRecent).joined(separator: ", ")
      notes.append(Span("errors \(Format.count(traffic.errors))\(told)", errors.hasRecent ? .error : .faint))
    }
    func note(_ text: String) { notes.append(Span(DisplayText(text), .faint)) }
    if traffic.writeErrors > 0 { note("failed writes \(Format.count(traffic.writeErrors))") }
    if traffic.stale > 0 { note("≈ stale \(Format.count(traffic.stale))") }
    if let pool { note(pool.brief.isEmpty ? "pooled" : "pooled \(pool.brief)") }
    if traffic.refused > 0 { note("refused \(Format.count(traffic.refused))") }
    if !level.isOrigin, traffic.missed > 0 { note("misses: " + reasons(traffic)) }
    return Array(notes.map { [$0] }.joined(separator: [Span(" · ", .faint)]))
  }

  private static func drawNotes(
    _ picture: Picture, _ index: Int, _ pool: OperatorText?, in box: Rect, on canvas: inout Canvas
  ) {
    let notes = notes(picture, index, pool)
    guard !notes.isEmpty else { return }
    let whole = notes.reduce(DisplayText()) { $0 + $1.text }
    let text = whole.clipped(to: box.width - 4)
    // The whole with its spaces and a mark where it is cut, and over it the parts that fit, with their looks.
    let (x, y) = (box.x + 2, box.bottom - 1)
    canvas.write(" " + text + " ", x: x - 1, y: y, style: .faint)
    let end = x + text.width - (text.width < whole.width ? 1 : 0)
    var place = x
    for note in notes {
      guard place + note.text.width <= end else { break }
      canvas.write(note.text, x: place, y: y, style: note.style)
      place += note.text.width
    }
  }

  /// Why look-ups missed, the most frequent reason first.
  private static func reasons(_ traffic: CacheStatistics.Level) -> String {
    traffic.misses.filter { $0.key != .refused }
      .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
      .map { "\($0.key.rawValue) \(Format.count($0.value))" }
      .joined(separator: ", ")
  }

  private static func drawStorage(
    _ picture: Picture, _ index: Int, _ history: Rect?, in box: Rect, on canvas: inout Canvas
  ) {
    let (level, traffic, now) = (picture.levels[index], picture.figures(index), picture.now)
    let past = picture.traffic[index].seconds
    let x = box.x + 2
    let room = box.width - 3
    for (line, share) in [Share.hits, .misses].enumerated() {
      let row = Rect(x: x, y: box.y + 1 + line, width: room - 1, height: 1)
      draw(share, picture, index, history: history, in: row, on: &canvas)
    }
    guard box.height >= BoxRow.boxHeight else {
      var items = latencies(picture, index).prefix(2).map(\.self)
      if let shared = level.shared { items = shared.items + items }
      if let owner = level.owner { items = ["owner: \(owner)"] + items }
      if let usage = level.usage { items = ["used \(usage.percent)", Format.counted(usage.count, "key")] + items }
      canvas.write(fitting(items, in: room - 1), x: x, y: box.y + 3)
      return
    }
    canvas.write(fitting(latencies(picture, index), in: room - 1), x: x, y: box.y + 3)
    if let shared = level.shared {
      let style: Style = shared.deafFor != nil || !shared.isConnected ? .warning : .plain
      canvas.write(fitting(shared.items, in: room - 1), x: x, y: box.y + 4, style: style)
      return _ = canvas.write("sets \(Format.short(traffic.sets))", x: x, y: box.y + 5, style: .faint)
    }
    drawUsage(level.usage, x: x, y: box.y + 4, room: room, on: &canvas)
    var items: [String] = []
    if let owner = level.owner { items.append("owner: \(owner)") }
    if let usage = level.usage { items.append("\(Format.count(usage.count)) \(usage.count == 1 ? "key" : "keys")") }
    items.append("evict \(Format.perSecond(past.rate(at: now) { $0.evicted }))")
    items.append("expire \(Format.perSecond(past.rate(at: now) { $0.expired }))")
    items.append("sets \(Format.short(traffic.sets))")
    canvas.write(fitting(items, in: room - 1), x: x, y: box.y + 5, style: .faint)
  }

  /// What of a level's answers is drawn as a row of its own.
  private struct Share {
    var label: DisplayText
    var style: Style
    var count: (CacheStatistics.Level) -> Int
    var lately: (SecondRing.Second) -> UInt32

    static var hits: Share { Share(label: "hit ", style: .hit, count: { $0.hits }, lately: { $0.hits }) }
    static var misses: Share { Share(label: "miss", style: .miss, count: { $0.missed }, lately: { $0.misses }) }
  }

  private static func draw(
    _ share: Share, _ picture: Picture, _ index: Int, history: Rect?, in row: Rect, on canvas: inout Canvas
  ) {
    let (traffic, past) = (picture.figures(index), picture.traffic[index].seconds)
    let percent = Format.percent(share.count(traffic), of: traffic.answered)
    let text = DisplayText(percent == Format.none ? percent : percent + "%").rightAligned(to: 6)
    canvas.write([Span(share.label + " "), Span(text, share.style.bold)], x: row.x, y: row.y)
    if let history {
      let seconds = past.last(history.width, at: picture.now)
      let line = Canvas.sparkline(seconds.map { Double(share.lately($0)) }, most: most(seconds))
      canvas.write(line, x: history.x, y: row.y, style: share.style)
      for (column, second) in seconds.enumerated() where second.hasWarning {
        canvas.write("▲", x: history.x + column, y: row.y, style: .warning)
      }
    }
    let rate = DisplayText(Format.perSecond(past.rate(at: picture.now, share.lately)))
    canvas.write(rate, endingAt: row.right, y: row.y)
  }

  /// Hits and misses are drawn to one scale.
  private static func most(_ seconds: [SecondRing.Second]) -> Double {
    Double(seconds.reduce(1) { max($0, max($1.hits, $1.misses)) })
  }

  /// For the chosen time; where there is more room, for the last seconds too.
  private static func latencies(_ picture: Picture, _ index: Int) -> [String] {
    func texts(_ latency: LatencyHistogram) -> [String] {
      let values = [("p50", latency.nanoseconds(0.5)), ("p99", latency.nanoseconds(0.99)), ("max", latency.longest)]
      return values.map { "\($0.0) \($0.1.map { Format.latency(nanoseconds: $0) } ?? Format.none)" }
    }
    guard !picture.isRecent else { return texts(picture.figures(index).latency) }
    let (all, lately) = (picture.traffic[index].latency, picture.traffic[index].recent(at: picture.now).latency)
    return texts(all) + (all.count > 0 ? ["· \(SecondRing.rateWindow) s \(texts(lately)[1])"] : [])
  }

  private static func drawUsage(_ usage: LevelUsage?, x: Int, y: Int, room: Int, on canvas: inout Canvas) {
    canvas.write("used", x: x, y: y)
    guard let usage else { return _ = canvas.write("—", x: x + 5, y: y) }
    guard let fraction = usage.fraction else {
      return _ = canvas.write("\(Format.bytes(usage.cost)), no limit", x: x + 5, y: y)
    }
    let percent = DisplayText(usage.percent).rightAligned(to: 4) + (fraction > LevelUsage.full ? " ■ full" : "")
    let amount = DisplayText(usage.amount)
    let hasAmount = room >= 5 + 10 + percent.width + 1 + 2 + amount.width
    let width = room - 5 - percent.width - 2 - (hasAmount ? amount.width + 2 : 0)
    // A space stands between them even where all four cells are digits.
    let bar = usage.percent.count > 3 ? width - 1 : width
    canvas.bar(x: x + 5, y: y, width: bar, fraction: fraction, style: fraction > LevelUsage.full ? .warning : .accent)
    canvas.write(percent, x: x + 5 + width, y: y)
    if hasAmount { canvas.write(amount, endingAt: x + room - 1, y: y, style: .faint) }
  }

  private static func drawOrigin(
    _ picture: Picture, _ index: Int, _ history: Rect?, in box: Rect, on canvas: inout Canvas
  ) {
    let (traffic, past, now) = (picture.figures(index), picture.traffic[index].seconds, picture.now)
    let x = box.x + 2
    let rate = DisplayText(Format.perSecond(past.rate(at: now) { $0.asked }))
    canvas.write(rate, x: x, y: box.y + 1, style: Style.plain.bold)
    if let history {
      let seconds = past.last(history.width, at: now)
      canvas.write(
        Canvas.sparkline(seconds.map { Double($0.asked) }), x: history.x, y: history.y, style: .miss)
    }
    let room = box.width - 3
    let (words, errors) = (latencies(picture, index), ErrorShare(picture, level: index))
    let told = errors.items(isRecent: picture.isRecent)
    guard box.height >= BoxRow.boxHeight else {
      canvas.write(
        fitting([Format.counted(traffic.lookups, "load")] + told, in: room), x: x, y: box.y + 2,
        style: errors.style)
      canvas.write(fitting(words, in: room), x: x, y: box.y + 3)
      return
    }
    canvas.write(DisplayText(Format.counted(traffic.lookups, "load")).clipped(to: room), x: x, y: box.y + 2)
    if room >= 26 {
      canvas.write(fitting(words, in: room), x: x, y: box.y + 3)
    } else {
      canvas.write(DisplayText(words[0]).clipped(to: room), x: x, y: box.y + 3)
      canvas.write(DisplayText(words[1]).clipped(to: room), x: x, y: box.y + 4)
    }
    canvas.write(fitting(told, in: room), x: x, y: box.y + 5, style: errors.style)
  }

  /// What is passed on to the levels after, and what is copied back to those before.
  static func drawArrow(
    _ picture: Picture, from: [Int], to: [Int], x: Int, y: Int, box: Int, on canvas: inout Canvas
  ) {
    func rate(_ levels: [Int], _ field: (SecondRing.Second) -> UInt32) -> Double? {
      let rates = levels.compactMap { picture.traffic[$0].seconds.rate(at: picture.now, field) }
      return rates.isEmpty ? nil : rates.reduce(0, +)
    }
    let passed = rate(to) { $0.asked }
    let filled = rate(from) { $0.fills }
    canvas.write(
      arrow(passed, rule: "═", head: "▶", isLeft: false), x: x, y: y + 1, style: passed == nil ? .faint : .miss)
    canvas.write(
      arrow(filled, rule: "─", head: "◀", isLeft: true), x: x, y: y + (box >= BoxRow.boxHeight ? 4 : 3),
      style: filled == nil ? .faint : .fill)
    guard picture.isMoving else { return }
    for step in picture.motion.steps(.passed, from: from, of: BoxRow.arrow, at: picture.now) {
      canvas.write("○", x: x + step, y: y + 1, style: .miss)
    }
    for step in picture.motion.steps(.filled, from: from, of: BoxRow.arrow, at: picture.now) {
      canvas.write("●", x: x + BoxRow.arrow - 1 - step, y: y + (box >= BoxRow.boxHeight ? 4 : 3), style: .hit)
    }
    guard to.contains(where: { picture.levels[$0].shared != nil }) else { return }
    for step in picture.motion.steps(.forgotten, from: from, of: BoxRow.arrow, at: picture.now) {
      canvas.write("✕", x: x + BoxRow.arrow - 1 - step, y: y + 2, style: .warning)
    }
  }

  /// `═37═▶`: five cells.
  private static func arrow(_ rate: Double?, rule: DisplayText, head: DisplayText, isLeft: Bool) -> DisplayText {
    let number: DisplayText =
      rate.map { DisplayText($0 < 1 ? Format.rate($0) : Format.short(Int(min($0, 1e15).rounded()))) } ?? ""
    var body = number
    while body.width < BoxRow.arrow - 1 {
      if body.width % 2 == number.width % 2 { body = rule + body } else { body += rule }
    }
    return isLeft ? head + body : body + head
  }

  /// As many items as fit, two spaces between them.
  static func fitting(_ items: [String], in room: Int) -> DisplayText {
    var text = DisplayText()
    for item in items {
      let next = DisplayText(item)
      let gap = text.width == 0 ? 0 : 2
      guard text.width + gap + next.width <= room else { break }
      text += DisplayText(repeating: " ", count: gap) + next
    }
    return text
  }
}
