import ExplorerText

/// The most useful keys, from the key table.
enum KeyBar {
  /// The first to go when there is no room for all; help and quit stay.
  private static let dropped = [
    "Expire", "Delete", "Clear", "Zoom", "Sort", "Focus", "Warning", "Inspect", "Pause", "Screen", "Filter",
  ]

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    for (binding, x) in items(model, in: rect) {
      let end = canvas.write(key(binding), x: x, y: rect.y, style: .key)
      canvas.write(word(binding), x: end, y: rect.y)
    }
  }

  /// What the keys that are shown at a column do.
  static func action(at column: Int, _ model: Model, in rect: Rect) -> Action? {
    items(model, in: rect).first { binding, x in
      (x..<x + key(binding).width + word(binding).width).contains(column)
    }?.binding.action
  }

  private static func items(_ model: Model, in rect: Rect) -> [(binding: KeyTable.Binding, x: Int)] {
    var bindings = KeyTable.bindings.filter {
      $0.label != nil && $0.scope.realm == .normal && (model.whyReadOnly == nil || $0.scope != .change)
    }
    let gap = rect.width >= 100 ? 2 : 1
    func width() -> Int { bindings.reduce(1) { $0 + key($1).width + word($1).width + gap } - gap }
    for label in dropped where width() > rect.width { bindings.removeAll { $0.label == label } }
    var x = rect.x + 1
    return bindings.map { binding in
      defer { x += key(binding).width + word(binding).width + gap }
      return (binding, x)
    }
  }

  private static func key(_ binding: KeyTable.Binding) -> DisplayText {
    DisplayText(binding.barName ?? binding.name)
  }

  /// A word as the name of a key would run into the word of what it does.
  private static func word(_ binding: KeyTable.Binding) -> DisplayText {
    DisplayText((key(binding).width > 1 ? " " : "") + (binding.label ?? ""))
  }
}
