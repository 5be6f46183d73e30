import ExplorerState
import ExplorerText

@testable import CacheExplorer
@testable import ExplorerTerminal

/// A screen in memory: keeps what was shown and plays the person.
@MainActor
final class RecordingScreen: Screen {
  private(set) var size: Size
  let input = InputQueue()
  /// Every canvas that was shown, in order.
  private(set) var shown: [Canvas] = []
  private(set) var isClosed = false
  private(set) var suspensions = 0
  private(set) var invalidations = 0
  private(set) var isMouseOn = false
  private(set) var theme: Theme?
  private(set) var copied: [String] = []

  private var waiters: [Int: (isMet: @MainActor (Canvas) -> Bool, continuation: CheckedContinuation<Canvas?, Never>)] =
    [:]
  private var lastWaiter = 0

  init(size: Size = Size(width: 80, height: 24)) {
    self.size = size
  }

  func show(_ canvas: Canvas) {
    guard !isClosed else { return }
    shown.append(canvas)
    for (number, waiter) in waiters where waiter.isMet(canvas) { answer(number, canvas) }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    input.finish()
    for number in waiters.keys { answer(number, nil) }
  }

  private func answer(_ number: Int, _ canvas: Canvas?) {
    waiters.removeValue(forKey: number)?.continuation.resume(returning: canvas)
  }

  func suspend() { suspensions += 1 }

  func invalidate() { invalidations += 1 }

  func useMouse(_ isOn: Bool) { isMouseOn = isOn }

  func use(_ theme: Theme) { self.theme = theme }

  func copy(_ text: String) { copied.append(text) }

  // The person's side.

  /// What the person sees now.
  var current: Canvas? { shown.last }

  func send(_ event: InputEvent) { input.send(event) }

  /// Presses a key for each character.
  func type(_ text: String) {
    for character in text { send(.key(character == "\n" ? .enter : .character(character))) }
  }

  func resize(to size: Size) {
    self.size = size
    send(.resized(size))
  }

  /// Waits for a canvas, the current one or a later, that meets the condition; `nil` when the screen was closed first,
  /// or the task was cancelled.
  ///
  /// The condition may be asked more than once for one canvas.
  func canvas(where isMet: @escaping @MainActor (Canvas) -> Bool) async -> Canvas? {
    if let current, isMet(current) { return current }
    guard !isClosed else { return nil }
    lastWaiter += 1
    let number = lastWaiter
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled else { return continuation.resume(returning: nil) }
        waiters[number] = (isMet, continuation)
      }
    } onCancel: {
      Task { @MainActor in answer(number, nil) }
    }
  }
}

extension Canvas {
  /// The rows as text, without the spaces at their ends.
  var rows: [String] {
    (0..<size.height).map { y in
      var row = ""
      for x in 0..<size.width { row += self[x, y].glyph.text }
      while row.last == " " { row.removeLast() }
      return row
    }
  }
}
