import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerText

/// A replay on the screen: where it stands, and what the person does with it.
///
/// Pure as the model of a live session is: events and time go in, what is to be done comes out.
struct ReplayState: Sendable {
  /// What the runtime is asked to do.
  enum Effect: Sendable, Equatable {
    case leave
    case redraw
    case suspend
    case export(String)
  }

  /// How far an arrow goes.
  static let leap = Duration.seconds(5)

  var playback: Playback
  /// The window's.
  var size: Size
  /// The command that is typed, if one is.
  private(set) var editor: LineEditor?
  /// The place and the words of what is wrong with it.
  private(set) var fault: CommandError?
  var answer: CommandLineState.Answer?
  /// The files that are being written.
  private var writing: [String] = []
  /// They are written to the end although the replay is left.
  private let outlives: Bool
  /// The person was told that leaving now leaves them unwritten.
  private(set) var isWarned = false
  private(set) var isHelping = false
  /// The moment as the person looks at it, with screens, filters and sizes of their own; `nil` while the film is shown.
  private var look: Model?
  /// What is found by its name, while something is looked for.
  private(set) var palette: ActionPalette?

  init(_ playback: Playback, size: Size, outlives: Bool = false) {
    self.playback = playback
    self.outlives = outlives
    self.size = size
    answer = playback.recording.note.map { CommandLineState.Answer(isGood: false, text: $0) }
  }

  mutating func handle(_ event: InputEvent) -> [Effect] {
    switch event {
    case .resized(let size):
      self.size = size
      let place = lookSize
      look?.size = place
      return [.redraw]
    case .resumed: return [.redraw]
    case .mouse, .focus: return []
    case .suspend: return [.suspend]
    case .terminate: return [.leave]
    case .paste(let text):
      palette?.edit { $0.insert(text) }
      editor?.insert(text)
      if palette == nil, editor == nil, look?.mode == .filter { look(event) }
      return []
    case .key(let key):
      if palette != nil { return choose(key) }
      return editor == nil ? press(key) : type(key)
    }
  }

  private mutating func press(_ key: InputEvent.Key) -> [Effect] {
    let known = KeyTable.action(for: key, in: .replaying)
    if isHelping, known != .redraw, known != .suspend {
      isHelping = false
      return []
    }
    if let look {
      // What is typed, and what closes something, is for whoever looks.
      if look.mode != .normal || (key == .escape && look.hasSomethingOpen) {
        self.look(.key(key))
        return []
      }
      if key == .escape {
        self.look = nil
        answer = CommandLineState.Answer(isGood: true, text: "the pictures as they were shown")
        return []
      }
    }
    if let known { return act(known) }
    if let meant = KeyTable.action(for: key, in: .normal), Self.looks(meant) { self.look(.key(key)) }
    return []
  }

  /// Whether a key of a live session is about looking; the others would do something to the cache or the program.
  private static func looks(_ action: Action) -> Bool {
    ![.exportView, .copyKey, .copyValue].contains(action)
      && KeyTable.bindings.contains { $0.action == action && ($0.scope == .look || $0.scope == .move) }
  }

  private mutating func look(_ event: InputEvent) {
    answer = nil
    var model = shown ?? playback.model.looked(at: lookSize)
    let effects = update(&model, .input(event))
    if effects.contains(where: { $0 == .reload || $0 == .refreshWhatIf }) {
      answer = CommandLineState.Answer(isGood: false, text: "a recording has no cache that could be asked")
    }
    look = model
  }

  /// The last row is the replay's.
  private var lookSize: Size { Size(width: size.width, height: max(0, size.height - 1)) }

  /// The moment as it is looked at; `nil` while the film is shown.
  var shown: Model? { look.map { playback.model.looked(like: $0) } }

  private mutating func act(_ action: Action) -> [Effect] {
    answer = nil
    switch action {
    case .freeze:
      if playback.isAtEnd { playback.go(to: 0) }
      playback.isPlaying.toggle()
    case .stepBack: playback.step(by: -1)
    case .stepForward: playback.step(by: 1)
    case .playSlower: playback.faster(false)
    case .playFaster: playback.faster(true)
    case .earlier: leap(by: .zero - Self.leap)
    case .later: leap(by: Self.leap)
    case .first: playback.go(to: 0)
    case .live, .last: playback.go(to: .max)
    case .nextTrouble: jump(.nextWarning)
    case .previousTrouble: jump(.previousWarning)
    case .command: editor = LineEditor()
    case .help: isHelping = true
    case .palette: palette = ActionPalette(.commandLine, scopes: [.replaying])
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .quit: return leave()
    default: break
    }
    return []
  }

  /// Takes a key while an action is looked for.
  private mutating func choose(_ key: InputEvent.Key) -> [Effect] {
    switch palette?.press(key, rows: ActionPaletteOverlay.rows(in: size.height - 1)) {
    case .redraw?: return [.redraw]
    case .suspend?: return [.suspend]
    case nil: return []
    case .done(let item)?:
      palette = nil
      switch item?.deed {
      case .action(let action)?: return act(action)
      case .verb(let verb)?:
        // What it is about is still to be said, or why there is nothing that it could be done to.
        editor = LineEditor(verb.standsAlone ? verb.name : verb.name + " ")
        return verb.standsAlone ? run(verb.name) : []
      case .theme?, nil: return []
      }
    }
  }

  private mutating func leap(by distance: Duration) {
    playback.go(toTime: CacheInstant(nanoseconds: playback.head).advanced(by: distance).nanoseconds)
  }

  private mutating func type(_ key: InputEvent.Key) -> [Effect] {
    guard let action = KeyTable.action(for: key, in: .typing) else {
      if case .character(let character) = key { editor?.insert(String(character)) }
      fault = nil
      return []
    }
    switch action {
    case .accept: return run(editor?.text ?? "")
    case .cancel: (editor, fault) = (nil, nil)
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    default:
      editor?.apply(action)
      fault = nil
    }
    return []
  }

  private mutating func run(_ line: String) -> [Effect] {
    do throws(CommandError) {
      guard let command = try Verbs.parse(line) else {
        editor = nil
        return []
      }
      switch command {
      case let command as JumpVerb: jump(command.target)
      case let command as SpeedVerb: playback.set(speed: command.speed)
      case is HelpVerb: isHelping = true
      case is QuitVerb:
        editor = nil
        return leave()
      case let command as ExportVerb where command.isRecording:
        editor = nil
        answer = CommandLineState.Answer(isGood: true, text: "writing \(command.file)")
        writing.append(command.file)
        isWarned = false
        return [.export(command.file)]
      default:
        throw CommandError(
          column: 0, message: "a replay has no cache to \(command.name)",
          remedy: "use jump, speed, export FILE.cast, help or quit")
      }
      (editor, fault) = (nil, nil)
    } catch {
      fault = error
    }
    return []
  }

  /// Takes note of what became of a file.
  mutating func wrote(_ file: String, _ answer: CommandLineState.Answer) {
    if let place = writing.firstIndex(of: file) { writing.remove(at: place) }
    isWarned = false
    self.answer = answer
  }

  private mutating func leave() -> [Effect] {
    guard let file = writing.first, !outlives, !isWarned else { return [.leave] }
    isWarned = true
    let text =
      writing.count == 1
      ? "\(file) is still being written; q again leaves without it"
      : "\(writing.count) files are still being written; q again leaves without them"
    answer = CommandLineState.Answer(isGood: false, text: text)
    return []
  }

  private mutating func jump(_ target: JumpVerb.Target) {
    switch target {
    case .time(let time): playback.go(toTime: time.clampedNanoseconds)
    case .relative(let distance): leap(by: distance)
    case .nextWarning: goToTrouble(forwards: true)
    case .previousWarning: goToTrouble(forwards: false)
    }
  }

  private mutating func goToTrouble(forwards: Bool) {
    guard !playback.goToTrouble(forwards: forwards) else { return }
    answer = CommandLineState.Answer(
      isGood: false, text: "no warning or error \(forwards ? "after" : "before") this picture")
  }
}
