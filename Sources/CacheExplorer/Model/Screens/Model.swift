package import CacheEngine
package import ExplorerState
package import ExplorerText

/// All that the screen shows and all that the keys have done to it.
package struct Model: Sendable {
  /// What keys are for at the moment.
  package enum Mode: Sendable, Equatable {
    case normal
    /// A command is typed.
    case command
    /// A filter is typed.
    case filter
    case help
    /// What the help is searched for is typed.
    case helpSearch
    /// The figures of the focused panel are explained.
    case explaining
    case confirming(Confirmation)
    /// An action is looked for by its name.
    case palette
  }

  /// What the program shows: the file, or the demo's name.
  package var title: String
  package var size: Size
  /// Added to the time of day, which comes as UTC.
  package var utcOffsetInSeconds: Int64 = 0
  /// Nothing may be changed: the cache was opened for reading only.
  package var isReadOnly = false
  /// It is a moment of a recording, which somebody looks at.
  package internal(set) var isReplayed = false
  /// Whose cache it is, if it is another program's.
  package var attachment: Attachment?

  /// Goes on while the screen is frozen.
  package var live: Picture
  private var still: StillPicture?
  /// Steps through what happened before and since, while frozen.
  package var travel: TimeTravel?
  /// What happened of late, for who freezes the picture.
  var past = RecentPast()
  /// Something happened since the levels were last asked how full they are.
  var hasNews = false
  /// What the levels hold is not known: nobody asked yet, or the events do not tell.
  var isUncertain = true
  /// When the levels were last asked what they hold.
  package var askedAt: CacheInstant?
  /// Since 1970-01-01 00:00 UTC, at the instant `live.now`.
  package var wall: Duration = .zero

  package var mode = Mode.normal
  package var page = Page.overview
  package var focus = PanelID.entries
  /// What the panels remember; each finds its own by its type.
  var states: [PanelID: any Sendable] = [:]
  /// What is looked at closely.
  package var inspection: Inspection?
  /// Figures are those of the last seconds, and not those since the start.
  package var isRecent = false
  /// Keys are shown by other names, values not at all.
  package var isMasked = false
  package var mask = KeyMask()
  /// The mouse is ours, and not the terminal's.
  package var isMouseOn = false
  /// The window has just got the focus: the click that gave it was meant for nothing else.
  package var ignoresClick = false
  package var theme = Theme.standard
  /// Text may be put into the terminal's clipboard.
  package var canCopy = false
  /// How fast the cache's time passes; a recording may give any speed.
  package var speed = 1.0 {
    didSet { speed = min(max(speed, Quantity.speeds.lowerBound), Quantity.speeds.upperBound) }
  }
  /// What `u` would take back; `nil` if nothing can be taken back exactly.
  package var undoable: String?
  package var isZoomed = false
  /// What goes from level to level is seen on its way.
  package var isAnimated = false
  /// The window has the focus, as far as the terminal tells.
  var isWatched = true
  /// Which panels the overview has, and where.
  package var arrangement = PanelArrangement()
  var helpTop = 0
  /// The verb that the help is about; `nil` for all keys and verbs.
  package internal(set) var helpTopic: String?
  /// Only what contains this is shown of the help.
  package var helpSearch = TextSearch("")
  package var command = CommandLineState()
  /// What is found by its name, while something is.
  package var palette = ActionPalette(scopes: [])
  /// What a demonstration says to look at.
  package var caption: String?
  /// The name of the workload that runs; `nil` if none does.
  package var workload: String?
  /// How the recording of the session does; `nil` if it is not recorded.
  package var recording: RecordingStatus?
  /// The filter being typed.
  package var filter = LineEditor()

  /// `chain`: How the levels are put together; `nil` for one below the other.
  package init(
    title: String, levels: [LevelRow], operators: [OperatorRow] = [], chain: [ChainPart]? = nil,
    size: Size = Size(width: 80, height: 24), now: CacheInstant
  ) {
    self.title = title
    self.size = size
    live = Picture(levels: levels, operators: operators, chain: chain, now: now)
  }

  /// Why nothing may be changed; `nil` if it may.
  package var whyReadOnly: String? {
    if isReplayed { return "this is a recording: it can be looked at, and not changed" }
    return attachment?.whyReadOnly
      ?? (isReadOnly ? "this cache was opened for reading only; open it without --read-only to change it" : nil)
  }

  /// What stands still on the screen; `nil` if it shows what happens now.
  package var frozen: Picture? {
    get { still?.picture }
    set { still = newValue.map(StillPicture.init) }
  }
  package var isFrozen: Bool { still != nil }

  /// What is drawn.
  package var shown: Picture {
    var picture = frozen ?? live
    picture.isRecent = isRecent
    if !isAnimated || isFrozen { picture.motion = Motion() }
    return picture
  }

  /// Whether the picture goes on changing by itself: something travels on it, and somebody may look.
  package var isMoving: Bool {
    page == .overview && !isZoomed && isWatched && !isFrozen && isAnimated && live.isMoving
  }

  /// Between two pictures of what travels from level to level.
  private static let step = Duration.milliseconds(125)

  /// After how long the picture changes although nothing happens: something travels on it, or the list of entries has not
  /// taken in yet what happened.
  package var nextStep: Duration? {
    if isMoving { return Self.step }
    return !isFrozen && list.isBehind(live.entries) ? EntryList.pause : nil
  }

  /// The time of day of an instant, in milliseconds.
  package func timeOfDay(_ instant: CacheInstant) -> Int64 {
    // Instants saturate where sums of durations would trap.
    timeOfDay(
      sinceEpoch: .nanoseconds(
        CacheInstant(nanoseconds: wall.clampedNanoseconds)
          .advanced(by: live.now.duration(to: instant)).nanoseconds))
  }

  /// A key as it may be told.
  package func told(_ key: String) -> String { isMasked ? mask.name(of: key) : key }

  /// As ``told(_:)``; the empty key can be seen.
  package func shown(_ key: String) -> String {
    let name = told(key)
    return name.isEmpty ? "\"\"" : name
  }

  /// A text as it may be shown, in which these keys occur.
  package func shown(_ text: String, keys: [String]) -> String { isMasked ? mask.hide(keys, in: text) : text }

  package func timeOfDay(sinceEpoch time: Duration) -> Int64 {
    time.clampedNanoseconds / 1_000_000 + utcOffsetInSeconds * 1_000
  }
}
