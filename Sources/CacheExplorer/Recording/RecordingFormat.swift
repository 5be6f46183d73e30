import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

/// The file of a recorded session: a line of JSON for the beginning, one for each message and each picture.
///
/// ```
/// {"format":"cache-explorer recording","version":2,…}
/// {"at":1200000,"message":["tick",…]}
/// {"at":1250000,"picture":1,"trouble":0,"grid":"9a…"}
/// {"at":9000000,"end":"closed","lost":0}
/// ```
///
/// `at` counts nanoseconds since the beginning. A message is everything that enters `update`, so the same messages make
/// the same pictures. `grid` is a checksum of the picture that was shown, where the file tells everything that led to it; in a
/// masked recording, and in one that began in the middle of a session, of the picture that the file makes.
enum RecordingFormat {
  static let name = "cache-explorer recording"
  /// Version 1 told no counts: they are made of its events, and latencies were other ones, so that its pictures cannot be
  /// compared.
  static let version = 2
  /// The most that a file may grow to unless another limit is given.
  static let usualLimit = 256 << 20
  static var usualLimitText: String { Format.bytes(usualLimit) }
  /// Room for the last line.
  static let reserve = 256

  /// Why a recording ended, as its last line tells it.
  enum End: String, Sendable, CaseIterable {
    case closed, full
  }
}

/// How a session began: all of the model that is not made by messages.
struct SessionStart: Sendable {
  var title: String
  var size: Size
  var now: CacheInstant
  var wall: Duration
  var utcOffsetInSeconds: Int64
  var isReadOnly: Bool
  var isMasked: Bool
  var minimum: LogLevel
  var page: Page
  var isZoomed: Bool
  var isRecent: Bool
  var theme: Theme
  var isMouseOn: Bool
  var canCopy: Bool
  var speed: Double
  var undoable: String?
  var attachment: Attachment?
  /// What the names of hidden keys are made with; `nil` in a masked recording, which has other names already.
  var maskSalt: UInt64?
  var levels: [LevelRow]
  var operators: [OperatorRow]
  var chain: [ChainPart]
  var config: ConfigSheet
  /// Older commands, which a key may bring back onto the screen.
  var history: [String]

  /// Where a model stands.
  ///
  /// What it counted is left out: a recording counts from its beginning.
  init(_ model: Model, isMasked: Bool) {
    title = model.title
    size = model.size
    now = model.live.now
    wall = model.wall
    utcOffsetInSeconds = model.utcOffsetInSeconds
    isReadOnly = model.isReadOnly
    self.isMasked = model.isMasked
    minimum = model.log.minimum
    page = model.page
    isZoomed = model.isZoomed
    isRecent = model.isRecent
    theme = model.theme
    isMouseOn = model.isMouseOn
    canCopy = model.canCopy
    speed = model.speed
    undoable = isMasked ? nil : model.undoable
    attachment = model.attachment
    maskSalt = isMasked ? nil : model.mask.salt
    levels = model.live.levels
    operators = model.live.operators
    chain = model.live.chain
    config = model.config
    history = isMasked ? [] : model.command.history
  }

  /// The model as it was at the beginning.
  var model: Model {
    var model = Model(title: title, levels: levels, operators: operators, chain: chain, size: size, now: now)
    model.command.grammar = .commandLine
    model.wall = wall
    model.utcOffsetInSeconds = utcOffsetInSeconds
    model.isReadOnly = isReadOnly
    model.isMasked = isMasked
    model.log.minimum = minimum
    model.page = page
    if page != .overview, let panel = page.panels.first { model.focus = panel }
    model.isZoomed = isZoomed
    model.isRecent = isRecent
    model.theme = theme
    model.isMouseOn = isMouseOn
    model.canCopy = canCopy
    model.speed = speed
    model.undoable = undoable
    model.attachment = attachment
    model.mask = KeyMask(salt: maskSalt ?? 0, isApplied: maskSalt == nil)
    model.config = config
    model.command.remember(all: history)
    return model
  }
}

extension SessionStart: Recorded {
  var recorded: JSONText {
    .object([
      ("title", title.recorded), ("size", size.recorded), ("now", now.recorded), ("wall", wall.recorded),
      ("utcOffset", utcOffsetInSeconds.recorded), ("readOnly", isReadOnly.recorded), ("mask", isMasked.recorded),
      ("log", minimum.recordedValue), ("page", page.recordedValue), ("zoom", isZoomed.recorded),
      ("recent", isRecent.recorded),
      ("theme", theme.recordedValue), ("mouse", isMouseOn.recorded), ("clipboard", canCopy.recorded),
      ("speed", speed.recorded), ("undoable", undoable.recorded), ("attachment", attachment.recorded),
      ("maskSalt", maskSalt.recorded),
      ("levels", levels.recorded), ("operators", operators.recorded), ("chain", chain.recorded),
      ("config", config.recorded), ("history", history.recorded),
    ])
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    func field<Field: Recorded>(_ name: String) throws(RecordedFault) -> Field {
      guard let value = json[name] else { throw RecordedFault("“\(name)” is missing") }
      return try Field(recorded: value)
    }
    title = try field("title")
    size = try field("size")
    now = try field("now")
    wall = try field("wall")
    utcOffsetInSeconds = try field("utcOffset")
    isReadOnly = try field("readOnly")
    isMasked = try field("mask")
    minimum = try .init(recordedValue: try field("log"))
    page = try .init(recordedValue: try field("page"))
    isZoomed = try field("zoom")
    isRecent = try json["recent"].map { json throws(RecordedFault) in try Bool(recorded: json) } ?? false
    theme = try .init(recordedValue: try field("theme"))
    isMouseOn = try field("mouse")
    canCopy = try field("clipboard")
    speed = try field("speed")
    undoable = try field("undoable")
    attachment = try field("attachment")
    maskSalt = try field("maskSalt")
    levels = try field("levels")
    operators = try field("operators")
    chain = try field("chain")
    config = try field("config")
    history = try field("history")
    let (levelCount, operatorCount) = (levels.count, operators.count)
    guard chain.allSatisfy({ $0.fits(levels: levelCount, operators: operatorCount) }) else {
      throw RecordedFault("the cache has parts that are not there")
    }
  }
}

extension Canvas {
  /// A checksum of everything that is shown (FNV-1a, 64 bits).
  var checksum: UInt64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for cell in cells {
      for byte in cell.glyph.utf8 { add(byte) }
      add(cell.style.code)
    }
    add(UInt8(truncatingIfNeeded: size.width))
    add(UInt8(truncatingIfNeeded: cursor.map { $0.x + 1 } ?? 0))
    add(UInt8(truncatingIfNeeded: cursor.map { $0.y + 1 } ?? 0))
    return sum
  }
}

extension Style {
  /// A number of its own for each style; beyond what a letter can begin with.
  fileprivate var code: UInt8 {
    let role = UInt8(truncatingIfNeeded: Role.allCases.firstIndex(of: role) ?? 0)
    return 0x80 | role << 2 | (isBold ? 2 : 0) | (isReversed ? 1 : 0)
  }
}
