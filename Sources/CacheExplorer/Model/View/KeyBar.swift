import ExplorerState
import ExplorerText

/// The most useful keys, from the key table.
enum KeyBar {
  /// The first to go when there is no room for all; help and quit stay.
  private static let dropped = [
    "Expire", "Delete", "Clear", "Zoom", "Sort", "Focus", "Warning", "Inspect", "Pause", "Screen", "Filter",
  ]

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    for item in items(model, in: rect) {
      let end = canvas.write(item.key, x: item.x, y: rect.y, style: .key)
      canvas.write(item.word, x: end, y: rect.y)
    }
  }

  /// What the keys that are shown at a column do.
  static func action(at column: Int, _ model: Model, in rect: Rect) -> Action? {
    items(model, in: rect).first { ($0.x..<$0.x + $0.width).contains(column) }?.binding.action
  }

  private struct Item {
    let binding: KeyTable.Binding
    let key: DisplayText
    let word: DisplayText
    var x = 0

    init(_ binding: KeyTable.Binding) {
      self.binding = binding
      key = DisplayText(binding.barName ?? binding.name)
      // A key whose name is a word would run into the word for what it does.
      word = DisplayText((key.width > 1 ? " " : "") + (binding.label ?? ""))
    }

    var width: Int { key.width + word.width }
  }

  private static let all = KeyTable.bindings.filter { $0.label != nil && $0.scope.realm == .normal }.map(Item.init)

  private static func items(_ model: Model, in rect: Rect) -> [Item] {
    var items = all.filter { model.whyReadOnly == nil || $0.binding.scope != .change }
    let gap = rect.width >= 100 ? 2 : 1
    var width = items.reduce(1 - gap) { $0 + $1.width + gap }
    for label in dropped where width > rect.width {
      items.removeAll { item in
        guard item.binding.label == label else { return false }
        width -= item.width + gap
        return true
      }
    }
    var x = rect.x + 1
    for index in items.indices {
      items[index].x = x
      x += items[index].width + gap
    }
    return items
  }
}
