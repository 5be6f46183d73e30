/// Which level answered: each level's part of all reads that were served.
///
/// Not the hit rates, which are conditional.
enum ServedBy {
  static func draw(_ picture: Picture, in rect: Rect, on canvas: inout Canvas) {
    let requests = picture.requests
    let total = picture.levels.reduce(0) { $0 + (requests.servedBy[$1.name] ?? 0) }
    var x = canvas.write(" served by ", x: rect.x, y: rect.y, style: .title)
    let rest = remainder(picture, in: rect.width / 3)
    guard total > 0 else {
      canvas.write(
        [Span("—  "), Span(rest.width == 0 ? "no reads yet" : "", .faint), Span(rest, .join)], x: x, y: rect.y,
        limit: rect.right - x)
      return
    }
    let isWide = rect.width >= 100
    let signs = LevelRow.signs(picture.levels)
    let parts = picture.levels.enumerated().map { index, level -> (label: DisplayText, share: Double, isOrigin: Bool) in
      let served = requests.servedBy[level.name] ?? 0
      let name = level.isOrigin ? level.name : level.name.uppercased()
      let label: DisplayText =
        "\(isWide ? name : signs[index]) \(Format.percent(served, of: total))\(isWide ? "%" : "")"
      return (label, Double(served) / Double(total), level.isOrigin)
    }
    let labels = parts.reduce(0) { $0 + $1.label.width + 3 }
    let room = rect.width - x - labels - rest.width - 1
    for part in parts {
      x = canvas.write(part.label + " ", x: x, y: rect.y)
      let bar = Canvas.bar(width: max(0, room), fraction: part.share)
      x = canvas.write(bar, x: x, y: rect.y, style: part.isOrigin ? .miss : .hit)
      x += bar.width > 0 ? 1 : 0
    }
    // Where the shares leave less room, whole words go: half of one tells nothing.
    let left = rect.right - x
    canvas.write(
      rest.width <= left ? rest : remainder(picture, in: left - 2), x: x, y: rect.y, style: .join, limit: left)
  }

  /// What was read and is no level's merit.
  private static func remainder(_ picture: Picture, in room: Int) -> DisplayText {
    let reads = picture.requests.reads
    var items: [String] = []
    for operation in picture.operators {
      if let count = picture.requests.servedBy[operation.name] {
        items.append("\(operation.name) \(Format.count(count))")
      }
    }
    if reads.joined > 0 { items.append("joined \(Format.count(reads.joined))") }
    if reads.missed > 0 { items.append("missed \(Format.count(reads.missed))") }
    if reads.failed > 0 { items.append("failed \(Format.count(reads.failed))") }
    if reads.cancelled > 0 { items.append("cancelled \(Format.count(reads.cancelled))") }
    guard !items.isEmpty else { return "" }
    return "  " + LevelBoxes.fitting(items, in: room)
  }
}
