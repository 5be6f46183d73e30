import CacheEngine
import ExplorerState
import ExplorerText

/// What is out of the ordinary with a level at the moment: a sign and a word, so that nobody needs colours to see it.
struct LevelState {
  enum Kind: CaseIterable {
    /// Look-ups or writes fail.
    case failing
    /// Changes of other processes are not heard.
    case deaf
    case slow
    /// Nearly all of its room is taken.
    case full

    var meaning: String {
      switch self {
      case .failing: "look-ups or writes failed in the \(FigureTable.last)"
      case .deaf: "it hears no changes of other processes"
      case .slow: "half of the last answers took longer than nine of ten since the start"
      case .full: "nearly all of its room is taken"
      }
    }
  }

  let kind: Kind

  var sign: DisplayText {
    switch kind {
    case .failing, .deaf: "✕"
    case .slow: "!"
    case .full: "■"
    }
  }

  var word: DisplayText {
    switch kind {
    case .failing: "failing"
    case .deaf: "deaf"
    case .slow: "slow"
    case .full: "full"
    }
  }

  var style: Style { kind == .failing ? .error : .warning }

  /// The worst first.
  static func all(_ picture: Picture, level index: Int) -> [LevelState] {
    Kind.allCases.filter { isTrue($0, picture, index) }.map { LevelState(kind: $0) }
  }

  private static func isTrue(_ kind: Kind, _ picture: Picture, _ index: Int) -> Bool {
    let level = picture.levels[index]
    switch kind {
    case .failing:
      let lately = picture.traffic[index].recent(at: picture.now)
      return lately.errors + lately.writeErrors > 0
    case .deaf: return level.shared?.deafFor != nil
    case .slow: return isSlow(picture.traffic[index], at: picture.now)
    case .full: return (level.usage?.fraction ?? 0) > LevelUsage.full
    }
  }

  /// Fewer answers say nothing of how fast a level is.
  private static let fewest = 5

  /// Half of the last answers took longer than nine of ten since the start, and twice as long as is usual.
  static func isSlow(_ traffic: LevelTraffic, at now: CacheInstant) -> Bool {
    let lately = traffic.recent(at: now).latency
    guard lately.count >= fewest, let median = lately.nanoseconds(0.5), let usual = traffic.latency.nanoseconds(0.5),
      let high = traffic.latency.nanoseconds(0.9)
    else { return false }
    return median > high && median > 2 * usual
  }
}

extension LevelUsage {
  /// From this share on a level is called full.
  static let full = 0.95
}
