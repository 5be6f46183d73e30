import CacheEngine
import ExplorerState
import ExplorerText

/// A request line by line: how it ended, its way through the levels on one axis of time, who shared it, and why it missed.
struct RequestText {
  struct Line {
    var spans: [Span]
    /// Where Enter leads from it.
    var target: Inspection.Target?
  }

  private(set) var lines: [Line] = []
  var targets: [Inspection.Target] { lines.compactMap(\.target) }

  private let record: RequestRecord
  private let model: Model
  private let width: Int
  private var picture: Picture { model.shown }

  /// `width`: Of the box that it is drawn in.
  init(_ record: RequestRecord, _ model: Model, width: Int) {
    self.record = record
    self.model = model
    self.width = max(20, width - 4)
    addSummary()
    addWay()
    addCompany()
    addCauses()
  }

  static func title(_ record: RequestRecord, _ model: Model) -> DisplayText {
    DisplayText("Request \(record.id)  \(record.operation.rawValue) ")
      + DisplayText(record.key.map { model.shown($0) } ?? "everything")
  }

  private mutating func add(_ spans: [Span], _ target: Inspection.Target? = nil) {
    lines.append(Line(spans: spans, target: target))
  }

  /// Adds text in as many lines as it needs.
  private mutating func addWrapped(
    _ text: String, _ style: Style = .plain, indent: Int = 0, first: Span? = nil, target: Inspection.Target? = nil
  ) {
    let room = max(8, width - indent)
    for (index, line) in DisplayText(text).wrapped(to: room).enumerated() {
      let blank = Span(DisplayText(repeating: " ", count: indent))
      let lead = index == 0 ? first ?? blank : blank
      add([lead, Span(line, style)], index == 0 ? target : nil)
    }
  }

  private mutating func addSummary() {
    var parts: [String] = []
    if let cost = record.cost { parts.append(Format.bytes(cost)) }
    let total = record.duration ?? record.began.duration(to: picture.now)
    parts.append("total \(Format.latency(nanoseconds: total.clampedNanoseconds))")
    if record.callers > 1 { parts.append("callers \(record.callers)") }
    if let deadline = record.deadline, deadline > picture.now {
      parts.append("TTL \(Format.span(seconds: picture.now.duration(to: deadline).clampedNanoseconds / 1_000_000_000))")
    }
    parts.append(Format.clock(milliseconds: model.timeOfDay(record.began)))
    addWrapped(record.outcomeText, record.style.bold)
    addWrapped(parts.joined(separator: " · "), .faint)
  }

  // MARK: The way through the levels

  private var end: CacheInstant {
    var end = record.began.advanced(by: record.duration ?? .zero)
    if record.isUnderWay { end = max(end, picture.now) }
    for step in record.steps { end = max(end, step.began.advanced(by: step.duration ?? .zero)) }
    for joiner in record.joiners { end = max(end, joiner.ended ?? end) }
    return end
  }

  private mutating func addWay() {
    let axis = Axis(total: max(1, record.began.duration(to: end).clampedNanoseconds), width: width)
    let columns = axis.columns
    guard columns >= 4 else { return addPlainWay() }
    let half = Format.latency(nanoseconds: axis.total / 2)
    let scale =
      DisplayText("0").padded(to: max(1, columns / 2)) + DisplayText(half).padded(to: max(1, columns - columns / 2))
    add([
      Span(DisplayText(repeating: " ", count: axis.name + axis.word), .faint), Span(scale, .faint),
      Span(DisplayText(Format.latency(nanoseconds: axis.total)).rightAligned(to: 8), .faint),
    ])
    for step in record.steps {
      add(row(title(step.place), words(step.outcome), step.began, step.duration, style(step.outcome), on: axis))
    }
    if record.hiddenSteps > 0 { add([Span("\(record.hiddenSteps) more steps", .faint)]) }
    if let leader = record.leader, let joined = record.joinedAt {
      let until = record.duration.map { record.began.advanced(by: $0) }
      add(
        row(
          "joined", DisplayText(leader.description), joined, until.map { joined.duration(to: $0) }, .join, on: axis),
        .request(leader))
    }
    for joiner in record.joiners {
      add(
        row(
          "joined", DisplayText(joiner.id.description), joiner.time, joiner.ended.map { joiner.time.duration(to: $0) },
          .join, on: axis), .request(joiner.id))
    }
    if record.hiddenJoiners > 0 { add([Span("\(record.hiddenJoiners) more callers joined", .join)]) }
  }

  /// Without an axis, where there is no room for one.
  private mutating func addPlainWay() {
    for step in record.steps {
      let time = step.duration.map { Format.latency(nanoseconds: $0.clampedNanoseconds) } ?? "…"
      let words = Span(words(step.outcome) + " ", style(step.outcome))
      add([Span(title(step.place) + " ", .title), words, Span(DisplayText(time))])
    }
    if let leader = record.leader { add([Span("joined \(leader.description)", .join)], .request(leader)) }
    for joiner in record.joiners { add([Span("joined \(joiner.id.description)", .join)], .request(joiner.id)) }
  }

  /// What a request took, in nanoseconds, drawn over so many cells.
  private struct Axis {
    var total: Int64
    /// The cells of a level's name, of what it answered, and of time.
    var name, word, columns: Int

    init(total: Int64, width: Int) {
      self.total = total
      name = min(12, max(6, width / 6))
      word = 10
      columns = width - name - word - 9
    }
  }

  private func row(
    _ title: DisplayText, _ words: DisplayText, _ began: CacheInstant, _ duration: Duration?, _ style: Style,
    on axis: Axis
  ) -> [Span] {
    let (total, columns) = (axis.total, axis.columns)
    let offset = min(max(0, record.began.duration(to: began).clampedNanoseconds), total)
    let length = max(0, (duration ?? began.duration(to: picture.now)).clampedNanoseconds)
    let start = min(columns - 1, Int(Double(offset) / Double(total) * Double(columns)))
    let cells = Double(length) / Double(total) * Double(columns)
    let bar = Canvas.bar(width: columns - start, fraction: max(0.06, cells) / Double(columns - start))
    let time = duration == nil ? "…" : Format.latency(nanoseconds: length)
    return [
      Span(title.shortened(to: axis.name - 1).padded(to: axis.name), .title),
      Span(words.clipped(to: axis.word - 1).padded(to: axis.word), style),
      Span(DisplayText(repeating: " ", count: start)), Span(bar, style), Span(" " + DisplayText(time)),
    ]
  }

  private func title(_ place: RequestRecord.Step.Place) -> DisplayText {
    switch place {
    case .level(let index):
      guard picture.levels.indices.contains(index) else { return "—" }
      let level = picture.levels[index]
      return DisplayText(level.isOrigin ? level.name : level.name.uppercased())
    case .operation(let index):
      return picture.operators.indices.contains(index) ? DisplayText(picture.operators[index].name) : "—"
    }
  }

  private func words(_ outcome: RequestRecord.Step.Outcome) -> DisplayText {
    switch outcome {
    case .asked: "asked …"
    case .hit: "● hit"
    case .stale: "≈ stale"
    case .miss(.refused): "○ refused"
    case .miss(.absent): "○ miss"
    case .miss(let reason): "○ " + DisplayText(reason.rawValue)
    case .set: "set"
    case .fill: "fill"
    case .done(let operation): DisplayText(operation.rawValue)
    case .failed: "✕ failed"
    case .cancelled: "cancelled"
    case .did(let words): DisplayText(words)
    }
  }

  private func style(_ outcome: RequestRecord.Step.Outcome) -> Style {
    switch outcome {
    case .asked: .accent
    case .hit: .hit
    case .stale, .cancelled: .warning
    case .miss: .miss
    case .set, .fill: .fill
    case .done, .did: .plain
    case .failed: .error
    }
  }

  // MARK: Company and causes

  private mutating func addCompany() {
    if let leader = record.leader {
      addWrapped("\(leader) led the load; this one shared its answer", .join)
    } else if record.callers > 1 {
      addWrapped("\(record.id) led the load; \(record.callers - 1) joined it", .join)
    }
  }

  private mutating func addCauses() {
    var told: Set<String> = []
    for step in record.steps {
      guard let cause = step.cause else { continue }
      let text = CauseText.sentence(cause, at: step.place, key: record.key, model)
      // A condition refuses a key twice, when it is read and when it is filled.
      guard told.insert(text).inserted else { continue }
      let reference = cause.event.map { "; see event \(Format.count($0))" } ?? ""
      addWrapped(
        text + reference, indent: 5, first: Span("why: ", .key), target: cause.event.map { .event($0) })
    }
    for step in record.steps {
      guard case .failed = step.outcome, case .level(let index) = step.place, picture.levels.indices.contains(index)
      else { continue }
      let errors = ErrorShare(picture, level: index)
      guard let sign = errors.sign(isWide: true) else { continue }
      add([Span(title(step.place) + " ", .title), Span(DisplayText(sign), errors.style)])
    }
    guard case .failed(let message)? = record.outcome else { return }
    let reference = record.endEvent.map { "; see event \(Format.count($0))" } ?? ""
    // It may name the key, also as a level knows it.
    let why = model.isMasked ? "•••••••• hidden, P shows it" : message
    addWrapped(
      "it failed: " + why + reference, .plain, indent: 5, first: Span("why: ", .key),
      target: record.endEvent.map { .event($0) })
  }
}

extension DisplayText {
  private static let mostLines = 200

  /// Lines of at most so many cells, broken at spaces where there are any, and within a grouped number only if it fills a line.
  func wrapped(to room: Int) -> [DisplayText] {
    guard room > 0, width > room else { return [self] }
    var lines: [DisplayText] = []
    var start = glyphs.startIndex
    while start < glyphs.endIndex, lines.count < Self.mostLines {
      var end = start
      var cells = 0
      var (space, separator): (Int?, Int?)
      while end < glyphs.endIndex, cells + glyphs[end].width <= room {
        if glyphs[end] == " " { if isWithinNumber(end) { separator = end } else { space = end } }
        cells += glyphs[end].width
        end += 1
      }
      if end < glyphs.endIndex {
        // What fills its line exactly ends before the space that follows.
        if glyphs[end] == " " { if isWithinNumber(end) { separator = end } else { space = end } }
        if let space = space ?? separator, space > start { end = space }
      }
      // A glyph wider than the room would never fit.
      if end == start { end += 1 }
      lines.append(DisplayText(glyphs[start..<end]))
      start = end
      while start < glyphs.endIndex, glyphs[start] == " " { start += 1 }
    }
    return lines
  }

  /// Whether a space separates the groups of a number, as in `18 231`.
  private func isWithinNumber(_ space: Int) -> Bool {
    func isDigit(_ place: Int) -> Bool { glyphs.indices.contains(place) && ("0"..."9").contains(glyphs[place].text) }
    return isDigit(space - 1) && (1...3).allSatisfy { isDigit(space + $0) } && !isDigit(space + 4)
  }
}
