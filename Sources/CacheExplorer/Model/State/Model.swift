import CacheEngine

/// All that the screen shows and all that the keys have done to it.
struct Model: Sendable {
  /// What keys are for at the moment.
  enum Mode: Sendable, Equatable {
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
  }

  /// What the program shows: the file, or the demo's name.
  var title: String
  var size: Size
  /// Added to the time of day, which comes as UTC.
  var utcOffsetInSeconds: Int64 = 0
  /// Nothing may be changed: the cache was opened for reading only.
  var isReadOnly = false
  /// Whose cache it is, if it is another program's.
  var attachment: Attachment?

  /// Goes on while the screen is frozen.
  var live: Picture
  var frozen: Picture?
  /// Steps through what happened since, while frozen.
  var travel: TimeTravel?
  /// Something happened since the levels were last asked how full they are.
  var hasNews = false
  /// What the levels hold is not known: nobody asked yet, or the events do not tell.
  var isUncertain = true
  /// When the levels were last asked what they hold.
  var askedAt: CacheInstant?
  /// Since 1970-01-01 00:00 UTC, at the instant `live.now`.
  var wall: Duration = .zero

  var mode = Mode.normal
  var page = Page.overview
  var focus = Panel.entries
  /// What is looked at closely.
  var inspection: Inspection?
  var requestList = RequestList()
  var config = ConfigSheet()
  /// Figures are those of the last seconds, and not those since the start.
  var isRecent = false
  /// Which latencies are drawn.
  var latencyPart = LatencyPart.all
  /// Keys are shown by other names, values not at all.
  var isMasked = false
  var mask = KeyMask()
  /// The mouse is ours, and not the terminal's.
  var isMouseOn = false
  /// The window has just got the focus: the click that gave it was meant for nothing else.
  var ignoresClick = false
  var theme = Theme.standard
  /// Text may be put into the terminal's clipboard.
  var canCopy = false
  /// How fast the cache's time passes.
  var speed = 1.0
  /// What `u` would take back; `nil` if nothing can be taken back exactly.
  var undoable: String?
  /// The second of a level's history that is chosen.
  var history = HistoryCursor()
  var isZoomed = false
  var list = EntryList()
  var log = LogView()
  var inFlightTop = 0
  var inFlightCursor = 0
  var models = ModelSheet()
  var whatIf = WhatIfSheet()
  var helpTop = 0
  /// Only what contains this is shown of the help.
  var helpSearch = TextSearch("")
  var command = CommandLineState()
  /// What a demonstration says to look at.
  var caption: String?
  /// The name of the workload that runs; `nil` if none does.
  var workload: String?
  /// How the recording of the session does; `nil` if it is not recorded.
  var recording: RecordingStatus?
  /// The filter being typed.
  var filter = LineEditor()

  /// `chain`: How the levels are put together; `nil` for one below the other.
  init(
    title: String, levels: [LevelRow], operators: [OperatorRow] = [], chain: [ChainPart]? = nil,
    size: Size = Size(width: 80, height: 24), now: CacheInstant
  ) {
    self.title = title
    self.size = size
    live = Picture(levels: levels, operators: operators, chain: chain, now: now)
  }

  /// Why nothing may be changed; `nil` if it may.
  var whyReadOnly: String? {
    attachment?.whyReadOnly
      ?? (isReadOnly ? "this cache was opened for reading only; open it without --read-only to change it" : nil)
  }

  /// What is drawn.
  var shown: Picture {
    var picture = frozen ?? live
    picture.isRecent = isRecent
    return picture
  }

  /// The time of day of an instant, in milliseconds.
  func timeOfDay(_ instant: CacheInstant) -> Int64 {
    // Instants saturate where sums of durations would trap.
    timeOfDay(
      sinceEpoch: .nanoseconds(
        CacheInstant(nanoseconds: wall.clampedNanoseconds)
          .advanced(by: live.now.duration(to: instant)).nanoseconds))
  }

  /// A key as it may be shown.
  func shown(_ key: String) -> String { isMasked ? mask.name(of: key) : key }

  /// A text as it may be shown, in which these keys occur.
  func shown(_ text: String, keys: [String]) -> String { isMasked ? mask.hide(keys, in: text) : text }

  func timeOfDay(sinceEpoch time: Duration) -> Int64 {
    time.clampedNanoseconds / 1_000_000 + utcOffsetInSeconds * 1_000
  }
}

/// Which answers of a level count.
enum LatencyPart: String, Sendable, CaseIterable {
  case all, hits, misses

  var next: LatencyPart {
    switch self {
    case .all: .hits
    case .hits: .misses
    case .misses: .all
    }
  }
}
