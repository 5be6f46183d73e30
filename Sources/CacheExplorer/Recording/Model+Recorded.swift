import CacheEngine
import ExplorerCache
import ExplorerModel
import ExplorerText

// What messages and the beginning of a session hold of the model.

extension LogLine: Recorded {
  var recorded: JSONText { .fields(time, level.rawValue, source, text, request, event) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      time: try fields.next(), level: try .init(recordedValue: try fields.next()), source: try fields.next(),
      text: try fields.next(), request: try fields.next(), event: try fields.next())
  }
}

extension LevelUsage: Recorded {
  var recorded: JSONText { .fields(count, cost, capacity, countLimit) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      count: try fields.next(), cost: try fields.next(), capacity: try fields.next(), countLimit: try fields.next())
  }
}

extension EntrySummary<String>: Recorded {
  var recorded: JSONText { .fields(key, cost, created, deadline) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      key: try fields.next(), cost: try fields.next(), created: try fields.next(), deadline: try fields.next())
  }
}

extension Attachment: Recorded {
  var recorded: JSONText { .fields(label, whyReadOnly, ended) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(label: try fields.next(), whyReadOnly: try fields.next(), ended: try fields.next())
  }
}

extension Eviction: Recorded {
  var recorded: JSONText { name.recorded }

  init(recorded json: JSONText) throws(RecordedFault) {
    let name = try String(recorded: json)
    guard let eviction = Eviction(name: name) else { throw RecordedFault("there is no policy “\(name)”") }
    self = eviction
  }
}

extension HitRatioEstimate: Recorded {
  var recorded: JSONText { .fields(eviction, capacity, value, margin) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      eviction: try fields.next(), capacity: try fields.next(), value: try fields.next(), margin: try fields.next())
  }
}

extension HitRatioObserver.Level: Recorded {
  var recorded: JSONText { .fields(name, capacity, unit.rawValue, eviction, evictions, factors) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      name: try fields.next(), capacity: try fields.next(), unit: try .init(recordedValue: try fields.next()),
      eviction: try fields.next(), evictions: try fields.next(), factors: try fields.next())
  }
}

extension HitRatioReport: Recorded {
  var recorded: JSONText {
    .fields(
      level, requests, hits, samples, rate, bytes, timeSpent, timeShare, estimates, cheapestImprovement, cheapestSaving)
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      level: try fields.next(), requests: try fields.next(), hits: try fields.next(), samples: try fields.next(),
      rate: try fields.next(), bytes: try fields.next(), timeSpent: try fields.next(),
      timeShare: try fields.next(), estimates: try fields.next(), cheapestImprovement: try fields.next(),
      cheapestSaving: try fields.next())
  }
}

extension LevelRow: Recorded {
  var recorded: JSONText { .fields(name, kind, capacity, isOrigin, keepsExpired, usage, fault) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      name: try fields.next(), kind: try fields.next(), capacity: try fields.next(), isOrigin: try fields.next(),
      keepsExpired: try fields.next(), usage: try fields.next(), fault: try fields.next())
  }
}

extension OperatorRow: Recorded {
  var recorded: JSONText { .fields(name, kind, setting, limit, reset) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      name: try fields.next(), kind: try fields.next(), setting: try fields.next(), limit: try fields.next(),
      reset: try fields.next())
  }
}

extension ChainPart: Recorded {
  var recorded: JSONText {
    switch self {
    case .level(let index): index.recorded
    case .around(let index, let parts): .fields("around", index, parts)
    case .lanes(let index, let then, let otherwise): .fields("lanes", index, then, otherwise)
    case .stale(let index, let level, let source): .fields("stale", index, level, source)
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    if case .number(let index) = json {
      self = .level(index)
      return
    }
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "around": self = .around(try fields.next(), try fields.next())
    case "lanes": self = .lanes(try fields.next(), then: try fields.next(), otherwise: try fields.next())
    case "stale": self = .stale(try fields.next(), level: try fields.next(), from: try fields.next())
    default: throw RecordedFault("there is no part “\(word)” of a cache")
    }
  }

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
}

extension Place: Recorded {
  var recorded: JSONText { .fields(line, column) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(line: try fields.next(), column: try fields.next())
  }
}

extension ConfigurationProblem: Recorded {
  var recorded: JSONText { .fields(severity.rawValue, file, place, message, remedy) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      severity: try .init(recordedValue: try fields.next()), file: try fields.next(), place: try fields.next(),
      message: try fields.next(), remedy: try fields.next())
  }
}

extension ConfigurationSetting: Recorded {
  var recorded: JSONText { .fields(depth, owner, field, value, place) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      depth: try fields.next(), owner: try fields.next(), field: try fields.next(), value: try fields.next(),
      place: try fields.next())
  }
}

extension ConfigSheet.Plan: Recorded {
  var recorded: JSONText {
    switch self {
    case .changes(let lines): .fields("changes", lines)
    case .refused(let problems): .fields("refused", problems)
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "changes": self = .changes(try fields.next())
    case "refused": self = .refused(try fields.next())
    default: throw RecordedFault("there is no plan “\(word)”")
    }
  }
}

extension ConfigSheet: Recorded {
  var recorded: JSONText { .fields(file, settings, warnings, top, plan) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init()
    (file, settings) = (try fields.next(), try fields.next())
    (warnings, top, plan) = (try fields.next(), try fields.next(), try fields.next())
  }
}

extension Replacement: Recorded {
  var recorded: JSONText { .fields(title, levels, operators, chain, config) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      title: try fields.next(), levels: try fields.next(), operators: try fields.next(), chain: try fields.next(),
      config: try fields.next())
    guard chain.allSatisfy({ $0.fits(levels: levels.count, operators: operators.count) }) else {
      throw RecordedFault("the cache has parts that are not there")
    }
  }
}

extension ModelSheet.Name: Recorded {
  var recorded: JSONText { .fields(type, id) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(type: try fields.next(), id: try fields.next())
  }
}

extension ModelSheet.Row: Recorded {
  var recorded: JSONText {
    .fields(name, isStored, cost, deadline, relations, dependents, isGuessed, observers, toldAt, detail)
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(
      name: try fields.next(), isStored: try fields.next(), cost: try fields.next(), deadline: try fields.next(),
      relations: try fields.next(), dependents: try fields.next(), isGuessed: try fields.next(),
      observers: try fields.next(), toldAt: try fields.next(), detail: try fields.next())
  }
}

extension ModelSheet.Content: Recorded {
  var recorded: JSONText { .fields(source, rows, problem) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(source: try fields.next(), rows: try fields.next(), problem: try fields.next())
  }
}

extension ValueSight: Recorded {
  var recorded: JSONText { .fields(key, level, content) }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    self.init(key: try fields.next(), level: try fields.next(), content: try fields.next())
  }
}

extension ValueSight.Content: Recorded {
  /// Bytes as pairs of hexadecimal digits.
  var recorded: JSONText {
    switch self {
    case .asked: .fields("asked")
    case .bytes(let bytes, let count):
      .fields(
        "bytes", bytes.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }, count)
    case .absent: .fields("absent")
    case .failed(let text): .fields("failed", text)
    }
  }

  init(recorded json: JSONText) throws(RecordedFault) {
    var fields = try RecordedFields(json)
    let word = try fields.next(String.self)
    switch word {
    case "asked": self = .asked
    case "bytes":
      let digits = Array(try fields.next(String.self).utf8)
      var bytes: [UInt8] = []
      for place in stride(from: 0, to: min(digits.count, ValueSight.mostBytes * 2) - 1, by: 2) {
        guard let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) else {
          throw RecordedFault("a value is not hexadecimal")
        }
        bytes.append(byte)
      }
      self = .bytes(bytes, of: try fields.next())
    case "absent": self = .absent
    case "failed": self = .failed(try fields.next())
    default: throw RecordedFault("a value cannot be “\(word)”")
    }
  }
}
