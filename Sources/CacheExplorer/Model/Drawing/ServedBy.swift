import CacheEngine
import ExplorerState
import ExplorerText

/// Which level answered: each level's part of all reads that were served.
///
/// Not the hit rates, which are conditional.
enum ServedBy {
  static func draw(_ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    let served = picture.figures.served
    let total = picture.levels.reduce(0) { $0 + (served[$1.name] ?? 0) }
    var x = canvas.write(
      picture.isRecent ? " last \(SecondRing.rateWindow) s by " : " served by ", x: rect.x, y: rect.y, style: .title)
    guard total > 0 else {
      let none: DisplayText = picture.isRecent ? "no reads" : "no reads yet"
      let fitting = remainder(picture, in: rect.right - x - 5)
      let rest = fitting.isEmpty ? remainder(picture, in: .max) : fitting
      canvas.write(
        [Span("—  "), Span(rest.isEmpty ? none : "", .faint)] + rest, x: x, y: rect.y, limit: rect.right - x)
      return
    }
    let rest = remainder(picture, in: rect.width / 3)
    let isWide = rect.width >= 100
    let signs = LevelRow.signs(picture.levels)
    let parts = picture.levels.enumerated().map { index, level -> (label: DisplayText, share: Double, isOrigin: Bool) in
      let count = served[level.name] ?? 0
      let name = level.isOrigin ? level.name : level.name.uppercased()
      let label: DisplayText =
        "\(isWide ? name : signs[index]) \(Format.percent(count, of: total))\(isWide ? "%" : "")"
      return (label, Double(count) / Double(total), level.isOrigin)
    }
    let labels = parts.reduce(0) { $0 + $1.label.width + 3 }
    let restWidth = rest.reduce(0) { $0 + $1.text.width }
    let room = rect.width - x - labels - restWidth - 1
    for part in parts {
      x = canvas.write(part.label + " ", x: x, y: rect.y)
      let bar = Canvas.bar(width: max(0, room), fraction: part.share)
      x = canvas.write(bar, x: x, y: rect.y, style: part.isOrigin ? .miss : .hit)
      x += bar.width > 0 ? 1 : 0
    }
    // Where the shares leave less room, whole words are left out: half a word tells nothing.
    let left = rect.right - x
    canvas.write(restWidth <= left ? rest : remainder(picture, in: left - 2), x: x, y: rect.y, limit: left)
  }

  /// What was read and is no level's merit.
  private static func remainder(_ picture: Picture, in room: Int) -> [Span] {
    let reads = picture.figures
    var items: [(text: String, style: Style)] = []
    for operation in picture.operators {
      if let count = reads.served[operation.name] {
        items.append(("\(operation.name) \(Format.count(count))", .plain))
      }
    }
    if reads.joined > 0 { items.append(("joined \(Format.count(reads.joined))", .join)) }
    if reads.missed > 0 { items.append(("missed \(Format.count(reads.missed))", .miss)) }
    if reads.failed > 0 { items.append(("failed \(Format.count(reads.failed))", .error)) }
    if reads.cancelled > 0 { items.append(("cancelled \(Format.count(reads.cancelled))", .faint)) }
    var spans: [Span] = []
    var used = 0
    for item in items {
      let text = DisplayText(item.text)
      guard used + text.width <= room else { break }
      spans += [Span("  "), Span(text, item.style)]
      used += text.width + 2
    }
    return spans
  }
}
