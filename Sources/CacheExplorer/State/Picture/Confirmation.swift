/// A question that is answered with y or anything else.
package struct Confirmation: Sendable, Equatable {
  /// What y does: `nil` loads the configuration again.
  package var command: KeyCommand?
  /// Says what will go.
  ///
  /// Contains untrusted text.
  package var question: String

  package init(command: KeyCommand?, question: String) {
    self.command = command
    self.question = question
  }
}

/// The commands that keys stand for.
package enum KeyCommand: Sendable, Equatable {
  case delete(key: String)
  case expire(key: String)
  case clear
  case warn
  case undo
  case speed(Double)
  case quit

  /// What is shown while it runs; nothing for what is done at once.
  package var summary: String {
    switch self {
    case .delete(let key): "del \(key)"
    case .expire(let key): "expire \(key)"
    case .clear: "clear --all"
    case .warn: "warn"
    case .undo, .speed, .quit: ""
    }
  }
}
