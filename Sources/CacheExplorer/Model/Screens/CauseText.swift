import CacheEngine
import ExplorerState
import ExplorerText

/// Why a level missed, as a sentence.
enum CauseText {
  static func sentence(_ cause: Cause, at place: RequestRecord.Step.Place, key: String?, _ model: Model) -> String {
    let picture = model.shown
    let name =
      switch place {
      case .level(let index):
        picture.levels.indices.contains(index) ? picture.levels[index].name.uppercased() : "a level"
      case .operation(let index):
        picture.operators.indices.contains(index) ? picture.operators[index].name : "an operator"
      }
    let moment = cause.time.map { Format.clock(seconds: model.timeOfDay($0) / 1_000) } ?? ""
    let by = cause.request.map { " by \($0)" } ?? ""
    switch cause.kind {
    case .neverStored: return "\(name) missed because nobody has stored the key there since the start"
    case .forgotten: return "\(name) missed; what became of the key there is no longer remembered"
    case .leftUnseen: return "\(name) missed though the key was stored there; it left without a word"
    case .expired(let deadline?, let lifetime):
      let end = Format.clock(seconds: model.timeOfDay(deadline) / 1_000)
      let life = lifetime.map { " (ttl \(Format.latency(nanoseconds: $0.clampedNanoseconds)))" } ?? ""
      return "\(name) missed because its copy expired \(end)\(life)"
    case .expired(nil, _): return "\(name) missed because its copy was expired at \(moment), before its time"
    case .evicted(let by?) where by == key: return "\(name) missed because the value is larger than the level"
    case .evicted(let by?):
      return "\(name) missed because its copy was evicted \(moment) to make room for \(model.shown(by))"
    case .evicted(nil): return "\(name) missed because its copy was evicted \(moment) to make room"
    case .warning: return "\(name) missed because a memory warning dropped its copy \(moment)"
    case .cleared: return "\(name) missed because it was cleared \(moment)\(by)"
    case .removed: return "\(name) missed because its copy was removed \(moment)\(by)"
    case .damaged: return "\(name) missed because its copy was damaged"
    case .nameless(let removal, let count):
      let what = count == 1 ? "an entry" : "\(Format.count(count)) entries"
      return
        "\(name) missed; it let \(what) go without telling the key, the last \(moment) "
        + "(\(removal.rawValue)): this may have been one"
    case .refused(let index):
      let setting = picture.operators.indices.contains(index) ? picture.operators[index].setting : ""
      return "\(name) refused the key" + (setting.isEmpty ? "" : ": it is only for keys with \(setting)")
    case .remembered: return "\(name) remembered an earlier miss, and nobody was asked"
    case .down(let message): return "\(name) could not answer: \(message)"
    case .other(let reason): return "\(name) missed: \(reason)"
    }
  }
}
