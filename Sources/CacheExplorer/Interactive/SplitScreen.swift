import CacheEngine
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

/// One screen for two programs: each draws on its half, and what a person does goes to both, or to one.
@MainActor
final class SplitScreen {
  private let screen: any Screen
  /// What each cache is called, and what share of the reads it answered without its source.
  var sides: @MainActor () -> [(title: String, hits: Double?)] = { [("", nil), ("", nil)] }
  private(set) var panes: [PaneScreen] = []
  private(set) var focus = SplitPicture.Focus.both
  private var picture: SplitPicture
  private var shown: [(title: String, hits: Double?)] = []
  private var askedAt: ContinuousClock.Instant?

  init(_ screen: any Screen) {
    self.screen = screen
    picture = SplitPicture(screen.size, focus: .both)
    panes = (0...1).map { PaneScreen(self, size: picture.size(of: $0)) }
  }

  /// Hands on what the person does until the screen is gone.
  func run() async {
    for await event in screen.input { handle(event) }
    for pane in panes { pane.close() }
  }

  private func handle(_ event: InputEvent) {
    switch event {
    case .key(let key):
      switch KeyTable.action(for: key, in: .normal) {
      case .firstCache: look(at: .first)
      case .secondCache: look(at: .second)
      case .bothCaches: look(at: .both)
      // Once for the process, however many programs there are.
      case .suspend: screen.suspend()
      default: for side in 0...1 where focus.includes(side) { panes[side].send(event) }
      }
    case .paste: for side in 0...1 where focus.includes(side) { panes[side].send(event) }
    case .resized(let size): arrange(size)
    case .suspend: screen.suspend()
    case .mouse(let mouse):
      guard let side = picture.side(at: mouse.at), let place = picture.places[side] else { return }
      var inside = mouse
      inside.at = Point(x: mouse.at.x - place.x, y: mouse.at.y - place.y)
      panes[side].send(.mouse(inside))
    case .resumed, .terminate, .focus: for pane in panes { pane.send(event) }
    }
  }

  private func look(at focus: SplitPicture.Focus) {
    self.focus = focus
    arrange(screen.size)
    draw()
  }

  private func arrange(_ size: Size) {
    picture = SplitPicture(size, focus: focus)
    for (side, pane) in panes.enumerated() { pane.resize(to: picture.size(of: side)) }
  }

  /// Draws both; the caches are asked for their figures once a second at most.
  fileprivate func draw() {
    let now = ContinuousClock.now
    if askedAt.map({ now - $0 >= .milliseconds(900) }) ?? true {
      shown = sides()
      askedAt = now
    }
    screen.show(
      picture.canvas(panes.map(\.canvas), titles: shown.map(\.title), hits: shown.map(\.hits), focus: focus))
  }

  fileprivate func invalidate() { screen.invalidate() }

  fileprivate func useMouse() { screen.useMouse(panes.contains { $0.usesMouse }) }

  fileprivate func use(_ theme: Theme) { screen.use(theme) }

  fileprivate func copy(_ text: String) { screen.copy(text) }
}

/// A half of a screen.
@MainActor
final class PaneScreen: Screen {
  private(set) var size: Size
  let input = InputQueue()
  private(set) var canvas: Canvas?
  fileprivate private(set) var usesMouse = false
  private weak var whole: SplitScreen?

  init(_ whole: SplitScreen, size: Size) {
    self.whole = whole
    self.size = size
  }

  func show(_ canvas: Canvas) {
    guard canvas != self.canvas else { return }
    self.canvas = canvas
    whole?.draw()
  }

  var sharesInput: Bool { whole?.focus == .both }

  func close() { input.finish() }

  /// Whoever holds the whole screen does that.
  func suspend() {}

  func invalidate() { whole?.invalidate() }

  func useMouse(_ isOn: Bool) {
    usesMouse = isOn
    whole?.useMouse()
  }

  func use(_ theme: Theme) { whole?.use(theme) }

  func copy(_ text: String) { whole?.copy(text) }

  fileprivate func send(_ event: InputEvent) { input.send(event) }

  fileprivate func resize(to size: Size) {
    guard size != self.size else { return }
    self.size = size
    send(.resized(size))
  }
}
