import ExplorerText

/// Lines, some of which are rows that can be chosen.
struct RowLines {
  private(set) var lines: [(spans: [Span], row: Int?)] = []
  private(set) var rowCount = 0

  mutating func add(_ spans: [Span] = []) { lines.append((spans, nil)) }

  /// Adds a row of one line or more.
  mutating func addRow(_ parts: [[Span]]) {
    for spans in parts { lines.append((spans, rowCount)) }
    rowCount += 1
  }

  /// The chosen row; the last one if there are fewer by now.
  func chosen(_ row: Int) -> Int { min(max(0, row), max(0, rowCount - 1)) }

  /// The first line that is drawn: the chosen row stays in sight, the first one with what stands above it.
  func top(chosen row: Int, room: Int) -> Int {
    let last = lines.lastIndex { $0.row == chosen(row) } ?? 0
    return chosen(row) == 0 ? 0 : min(max(0, last - room + 1), max(0, lines.count - room))
  }

  func row(atLine line: Int, chosen row: Int, room: Int) -> Int? {
    let line = line + top(chosen: row, room: room)
    return lines.indices.contains(line) ? lines[line].row : nil
  }

  /// Draws what there is room for within a frame.
  func draw(chosen row: Int, in rect: Rect, isFocused: Bool, on canvas: inout Canvas) {
    let room = max(0, rect.height - 2)
    let top = top(chosen: row, room: room)
    var isMarked = false
    for (place, line) in lines.dropFirst(top).prefix(room).enumerated() {
      let y = rect.y + 1 + place
      if isFocused, !isMarked, line.row == chosen(row) {
        canvas.write("▸", x: rect.x + 1, y: y, style: .accent)
        isMarked = true
      }
      canvas.write(line.spans, x: rect.x + 2, y: y, limit: rect.width - 3)
    }
  }

  /// Whether lines follow below what is drawn.
  func hasMore(chosen row: Int, room: Int) -> Bool { top(chosen: row, room: room) + room < lines.count }
}
