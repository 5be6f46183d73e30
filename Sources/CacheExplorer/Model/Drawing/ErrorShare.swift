import CacheEngine
import ExplorerState
import ExplorerText

/// Which share of what was answered were errors, of late and since the start: the same words and the same look wherever errors
/// are told.
struct ErrorShare {
  private let all: (errors: Int, of: Int)
  private let lately: (errors: Int, of: Int)

  /// The share among the answered look-ups of a level.
  init(_ picture: Picture, level index: Int) {
    let (all, lately) = (picture.traffic[index].count, picture.traffic[index].recent(at: picture.now))
    self.all = (all.errors, all.answered)
    self.lately = (lately.errors, lately.answered)
  }

  /// The share among the ended reads of the whole cache.
  init(_ picture: Picture) {
    let (all, lately) = (picture.requests.count, picture.requests.recent(at: picture.now))
    self.all = (all.failed, all.ended)
    self.lately = (lately.failed, lately.ended)
  }

  var hasAny: Bool { all.errors > 0 }
  var hasRecent: Bool { lately.errors > 0 }
  /// What goes wrong now is not to be overlooked, what went wrong is a figure like others.
  var style: Style { hasRecent ? .error : hasAny ? .plain : .faint }

  /// `5 s 2.1%`.
  var recent: String { "\(SecondRing.rateWindow) s \(recentShare)" }
  /// `2.1%`.
  var recentShare: String { Self.text(lately) }
  /// `err 0.4%`.
  private var total: String { "err \(Self.text(all))" }

  /// As many as there is something to say of: `err 0.4%`, `5 s 2.1%`.
  func items(isRecent: Bool) -> [String] { isRecent ? ["err " + recent] : hasAny ? [total, recent] : [total] }

  /// `✕ err 0.4%, 5 s 2.1%`; `✕ err 2.1%`, of late, where there is less room; `nil` if there is no error to say that of.
  func sign(isWide: Bool) -> String? {
    guard isWide ? hasAny : hasRecent else { return nil }
    return isWide ? "✕ \(total), \(recent)" : "✕ err \(recentShare)"
  }

  private static func text(_ share: (errors: Int, of: Int)) -> String {
    let text = Format.percent(share.errors, of: share.of)
    return text == Format.none ? text : text + "%"
  }
}
