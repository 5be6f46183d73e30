import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerState
import ExplorerText

/// The file of a recorded session: a line of JSON for the beginning, one for each message and each picture.
///
/// ```
/// {"format":"cache-explorer recording","version":3,…}
/// {"at":1200000,"message":{"tick":{…}}}
/// {"at":1250000,"picture":1,"trouble":0,"grid":"9a…"}
/// {"at":9000000,"end":"closed","lost":0}
/// ```
///
/// `at` counts nanoseconds since the beginning. A message is everything that enters `update`, so the same messages make
/// the same pictures. `grid` is a checksum of the picture that was shown, where the file tells everything that led to it; in a
/// masked recording, and in one that began in the middle of a session, of the picture that the file makes.
enum RecordingFormat {
  static let name = "cache-explorer recording"
  /// What every recording begins with, and no other file.
  static let beginning = "{\"format\":\"\(name)\""
  /// Versions 1 and 2 gave every field its place in an array, and are read no longer.
  static let version = 3
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
struct SessionStart: Sendable, Codable {
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
  /// `nil` in recordings of older programs, whose panels had one place each.
  var arrangement: PanelArrangement?
  var isRecent: Bool
  /// `nil` in recordings of older programs, where nothing travelled.
  var isAnimated: Bool?
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
    arrangement = model.arrangement
    isRecent = model.isRecent
    isAnimated = model.isAnimated
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
    if let arrangement { model.arrangement = arrangement }
    model.focus = model.firstFocus
    model.isZoomed = isZoomed
    model.isRecent = isRecent
    model.isAnimated = isAnimated ?? false
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

extension ChainPart {
  /// Whether everything that it names is there.
  func fits(levels: Int, operators: Int) -> Bool {
    let isKnown: Bool =
      switch self {
      case .level(let index): (0..<levels).contains(index)
      case .around(let index, _), .lanes(let index, _, _), .stale(let index, _, _): (0..<operators).contains(index)
      }
    let parts: [ChainPart] =
      switch self {
      case .level: []
      case .around(_, let parts): parts
      case .lanes(_, let first, let second), .stale(_, let first, let second): first + second
      }
    return isKnown && parts.allSatisfy { $0.fits(levels: levels, operators: operators) }
  }

  /// Checks what a file says of a cache, so that nothing is drawn that is not there.
  static func check(_ chain: [ChainPart], _ levels: [LevelRow], _ operators: [OperatorRow]) throws(RecordedFault) {
    guard chain.allSatisfy({ $0.fits(levels: levels.count, operators: operators.count) }) else {
      throw RecordedFault("the cache has parts that are not there")
    }
  }
}

extension SessionStart {
  init(recorded json: JSONText) throws(RecordedFault) {
    self = try json.recorded()
    guard (-86_400...86_400).contains(utcOffsetInSeconds) else { throw RecordedFault("no clock is so far from UTC") }
    let sides = 1...Canvas.largest
    guard sides.contains(size.width), sides.contains(size.height) else {
      throw RecordedFault("no window has \(size.width)x\(size.height) cells")
    }
    try ChainPart.check(chain, levels, operators)
  }
}

extension Message {
  init(recorded json: JSONText) throws(RecordedFault) {
    self = try json.recorded()
    switch self {
    case .replaced(let new), .attachedAgain(_, let new): try ChainPart.check(new.chain, new.levels, new.operators)
    default: break
    }
  }
}

extension Canvas {
  /// A checksum of everything that is shown (FNV-1a, 64 bits).
  var checksum: UInt64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for cell in cells {
      for byte in cell.glyph.text.utf8 { add(byte) }
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
