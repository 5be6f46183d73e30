import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value that somebody asked to see: JSON laid out, other text as it is, anything else as bytes with text beside them.
enum ValuePanel {
  static func draw(_ sight: ValueSight, _ model: Model, in rect: Rect, on canvas: inout Canvas) {
    let content = lines(sight, model, width: rect.width - 4)
    let rows = max(0, rect.height - 2)
    let top = min(max(0, model.inspection?.top ?? 0), max(0, content.lines.count - rows))
    let key = DisplayText(model.shown(sight.key))
    // What is known of the value stands there before how to go on, and both before all of a long key.
    var parts = [content.what, "P hides", "Esc closes"]
    if content.lines.count > rows {
      parts.insert("\(top + 1)–\(min(content.lines.count, top + rows)) of \(content.lines.count)", at: 1)
    }
    let most = rect.width - 17 - min(key.width, rect.width / 4)
    while parts.count > 1, DisplayText(parts.joined(separator: " · ")).width > most { parts.removeLast() }
    let right = DisplayText(parts.joined(separator: " · "))
    let title: DisplayText = "Value of " + key.shortened(to: max(rect.width / 4, rect.width - right.width - 17))
    canvas.box(rect, title: title, right: right, isFocused: true)
    for (row, line) in content.lines.dropFirst(top).prefix(rows).enumerated() {
      canvas.write(line, x: rect.x + 2, y: rect.y + 1 + row, limit: rect.width - 3)
    }
  }

  static func lastTop(_ model: Model) -> Int {
    guard case .value(let sight)? = model.inspection?.subject else { return 0 }
    let rect = Layout(model).inspector
    return max(0, lines(sight, model, width: rect.width - 4).lines.count - max(0, rect.height - 2))
  }

  private static func lines(_ sight: ValueSight, _ model: Model, width: Int) -> (what: String, lines: [[Span]]) {
    let width = max(8, width)
    switch sight.content {
    case .asked: return ("reading", [[Span("…", .faint)]])
    case .absent: return ("absent", [[Span("no level holds it", .faint)]])
    case .failed(let reason):
      let why = model.isMasked ? "•••••••• hidden, P shows it" : reason
      return ("failed", DisplayText(why).wrapped(to: width).map { [Span($0, .error)] })
    case .bytes(let bytes, let count):
      let place = sight.level.map { " in \($0.uppercased())" } ?? ""
      let what = "\(Format.bytes(count))\(place)"
      guard !model.isMasked else {
        return (what, [[Span("•••••••• hidden, P shows it", .faint)]])
      }
      var (kind, lines) = body(bytes, isWhole: bytes.count == count, width: width)
      if bytes.count < count {
        let shown: DisplayText = "… first \(Format.bytes(bytes.count)) of \(Format.bytes(count)); the rest is not shown"
        lines.append([Span(shown, .faint)])
      }
      return ("\(kind), \(what)", lines)
    }
  }

  private static func body(_ bytes: [UInt8], isWhole: Bool, width: Int) -> (String, [[Span]]) {
    if bytes.isEmpty { return ("empty", [[Span("no bytes at all", .faint)]]) }
    if isWhole, let first = bytes.first(where: { $0 > 0x20 }), first == 0x7b || first == 0x5b,
      let json = try? JSONDecoder().decode(JSONTree.self, from: Data(bytes))
    {
      return ("JSON", JSONLayout.lines(json, width: width))
    }
    if let text = String(validating: bytes, as: UTF8.self), isReadable(bytes) {
      let lines = text.lines.prefix(4_000)
      return ("text", lines.flatMap { DisplayText(String($0), atMost: 8_192).wrapped(to: width).map { [Span($0)] } })
    }
    return ("bytes", hex(bytes, width: width))
  }

  /// Text has hardly any control characters.
  private static func isReadable(_ bytes: [UInt8]) -> Bool {
    let controls = bytes.count { $0 < 0x20 && $0 != 0x0a && $0 != 0x0d && $0 != 0x09 }
    return controls * 20 <= bytes.count
  }

  /// Offset, bytes, and the same bytes as text; sixteen in a row, or eight where there is no room.
  private static func hex(_ bytes: [UInt8], width: Int) -> [[Span]] {
    let row = width >= 77 ? 16 : 8
    return stride(from: 0, to: bytes.count, by: row).map { start in
      let part = bytes[start..<min(start + row, bytes.count)]
      var digits = ""
      for (index, byte) in part.enumerated() {
        if index == 8 { digits += " " }
        digits += byte < 16 ? "0\(String(byte, radix: 16)) " : "\(String(byte, radix: 16)) "
      }
      let offset = String(start + 0x1_0000_0000, radix: 16).dropFirst(3)
      let text = String(decoding: part.map { $0 >= 0x20 && $0 < 0x7f ? $0 : 0x2e }, as: UTF8.self)
      return [
        Span(DisplayText(String(offset)) + "  ", .faint),
        Span(DisplayText(digits).padded(to: row * 3 + (row > 8 ? 1 : 0))),
        Span(" " + DisplayText(text), .accent),
      ]
    }
  }
}

/// Lays JSON out, an element a line.
enum JSONLayout {
  private static let mostLines = 4_000

  static func lines(_ tree: JSONTree, width: Int) -> [[Span]] {
    var lines: [[Span]] = []
    add(tree, name: nil, depth: 0, tail: "", width, to: &lines)
    return lines
  }

  private static func add(
    _ tree: JSONTree, name: String?, depth: Int, tail: DisplayText, _ width: Int, to lines: inout [[Span]]
  ) {
    guard lines.count < mostLines else { return }
    let indent = DisplayText(repeating: " ", count: min(depth * 2, 40))
    var head = [Span(indent)]
    if let name { head += [Span(DisplayText(name), .key), Span(": ", .faint)] }
    switch tree {
    case .array(let elements) where !elements.isEmpty:
      lines.append(head + [Span("[", .faint)])
      for (index, element) in elements.enumerated() {
        add(element, name: nil, depth: depth + 1, tail: index + 1 < elements.count ? "," : "", width, to: &lines)
      }
      lines.append([Span(indent), Span("]" + tail, .faint)])
    case .object(let members) where !members.isEmpty:
      lines.append(head + [Span("{", .faint)])
      for (index, member) in members.enumerated() {
        add(
          member.value, name: member.name, depth: depth + 1, tail: index + 1 < members.count ? "," : "", width,
          to: &lines)
      }
      lines.append([Span(indent), Span("}" + tail, .faint)])
    case .array: lines.append(head + [Span("[]" + tail, .faint)])
    case .object: lines.append(head + [Span("{}" + tail, .faint)])
    case .null: lines.append(head + [Span("null", .faint), Span(tail, .faint)])
    case .bool(let flag): lines.append(head + [Span(flag ? "true" : "false", .accent), Span(tail, .faint)])
    case .number(let number): lines.append(head + [Span(DisplayText(number), .accent), Span(tail, .faint)])
    case .text(let text):
      let used = head.reduce(0) { $0 + $1.text.width }
      let parts = (DisplayText("\"") + DisplayText(text, atMost: 4_096) + "\"").wrapped(to: max(8, width - used - 1))
      for (index, part) in parts.enumerated() {
        let lead = index == 0 ? head : [Span(DisplayText(repeating: " ", count: used))]
        lines.append(lead + [Span(part, .hit), Span(index + 1 == parts.count ? tail : "", .faint)])
      }
    }
  }
}
