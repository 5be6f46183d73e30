/// The most useful keys, from the key table.
enum KeyBar {
  /// The first to go when there is no room for all; help and quit stay.
  private static let dropped: [Action] = [
    .expire, .delete, .clear, .zoom, .sort, .nextPanel, .warn, .inspect, .freeze, .overview, .filter,
  ]

  static func draw(_ model: Model, in rect: Rect, on canvas: inout Canvas) {
    var bindings = KeyTable.bindings.filter {
      $0.label != nil && $0.scope.realm == .normal && (!model.isReadOnly || $0.scope != .change)
    }
    let gap = rect.width >= 100 ? 2 : 1
    func width() -> Int { bindings.reduce(1) { $0 + key($1).width + word($1).width + gap } - gap }
    for action in dropped where width() > rect.width { bindings.removeAll { $0.action == action } }
    var x = rect.x + 1
    for binding in bindings {
      x = canvas.write(key(binding), x: x, y: rect.y, style: .key)
      x = canvas.write(word(binding), x: x, y: rect.y) + gap
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
