import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerState
import ExplorerTerminal
import ExplorerText

/// Plays a recording on a screen, until the person leaves.
@MainActor
final class ReplayShow {
  private enum Letter: Sendable {
    case input(InputEvent)
    /// The next picture is due, or a file was written.
    case wake
  }

  /// No screen needs pictures faster.
  private static let frame = Duration.milliseconds(33)

  private let screen: any Screen
  private let clock = SystemClock()
  private let theme: Theme
  private let mailbox = Mailbox<Letter>()
  private let errands: Errands
  /// Why whoever comes after this has a file not written.
  private let refusal: @MainActor (String) -> String?
  /// Says what became of a file, of which no picture told, to whoever comes after this.
  private let tell: @MainActor (CommandLineState.Answer) -> Void
  private var state: ReplayState
  private var exitStatus: Int32?
  /// What became of files since the last picture.
  private var untold: [CommandLineState.Answer] = []

  /// `errands`: What is waited for although this has ended; `nil` if nothing comes after it.
  init(
    _ recording: Recording, speed: Double, screen: any Screen, theme: Theme = .standard, errands: Errands? = nil,
    tell: @escaping @MainActor (CommandLineState.Answer) -> Void = { _ in },
    refusal: @escaping @MainActor (String) -> String? = { _ in nil }
  ) {
    self.screen = screen
    self.theme = theme
    self.errands = errands ?? Errands()
    self.refusal = refusal
    self.tell = tell
    state = ReplayState(Playback(recording, speed: speed), size: screen.size, outlives: errands != nil)
  }

  /// What the person does, while somebody else listens to the screen.
  func post(_ event: InputEvent) { mailbox.post(.input(event)) }

  /// Listens to the screen and plays.
  ///
  /// - Returns: The exit status: 0, or 128 plus the signal that ended the program.
  func runAlone() async -> Int32 {
    let input = Task {
      for await event in screen.input { post(event) }
      post(.terminate(signal: 0))
    }
    defer { input.cancel() }
    return await run()
  }

  func run() async -> Int32 {
    var last = clock.now
    draw()
    while exitStatus == nil, !Task.isCancelled {
      let timer = wakeLater()
      let letters = await mailbox.take()
      timer?.cancel()
      let now = clock.now
      state.playback.pass(last.duration(to: now))
      last = now
      for letter in letters where exitStatus == nil { receive(letter) }
      if exitStatus == nil { draw() }
    }
    for answer in untold { tell(answer) }
    return exitStatus ?? 0
  }

  private func wakeLater() -> Task<Void, Never>? {
    guard let pause = state.playback.pause else { return nil }
    // A file may name any time, and looking once too often does no harm.
    let due = clock.now.advanced(by: min(max(pause, Self.frame), .seconds(3_600)))
    return Task {
      do { try await clock.sleep(until: due, tolerance: nil) } catch { return }
      mailbox.post(.wake)
    }
  }

  private func draw() {
    var canvas = Canvas(state.size)
    view(state, on: &canvas)
    screen.show(canvas)
    untold.removeAll { $0 == state.answer }
  }

  private func receive(_ letter: Letter) {
    switch letter {
    case .wake: break
    case .input(let event):
      if case .terminate(let signal) = event, signal != 0 { exitStatus = 128 + signal }
      for effect in state.handle(event) { carryOut(effect) }
    }
  }

  private func carryOut(_ effect: ReplayState.Effect) {
    switch effect {
    case .leave: exitStatus = exitStatus ?? 0
    case .redraw: screen.invalidate()
    case .suspend: screen.suspend()
    case .export(let file):
      let (recording, theme) = (state.playback.recording, theme)
      errands.begin { [self] in
        let answer: CommandLineState.Answer
        let target = NamedFile.target(file)
        do {
          if let refusal = refusal(file) { throw CommandFailure(message: refusal) }
          let report = try await BlockingWork.run { try Asciicast.write(recording, to: file, theme: theme) }
          answer = .init(isGood: report.failure == nil, text: "\(report.sentence) written to \(target)")
        } catch {
          answer = .init(isGood: false, text: String(describing: error))
        }
        wrote(file, answer)
      }
    }
  }

  func wrote(_ file: String, _ answer: CommandLineState.Answer) {
    state.wrote(file, answer)
    guard exitStatus == nil else { return tell(answer) }
    untold.append(answer)
    mailbox.post(.wake)
  }
}
