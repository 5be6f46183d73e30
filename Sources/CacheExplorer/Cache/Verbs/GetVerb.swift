import CacheEngine
package import ExplorerCommands
import ExplorerState

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package struct GetVerb: Verb {
  package static let syntax = VerbSyntax(
    "get KEY [--level L]", "read through the levels", [.key], [VerbSyntax.Option("--level", "L", .level)])

  package var key: String?
  package var level: String?

  package init(key: String, level: String?) {
    self.key = key
    self.level = level
  }

  package init(_ words: ParsedWords) {
    self.init(key: words.arguments[0].text, level: words.text("--level"))
  }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    let key = key ?? ""
    return await session.timed(name) { result in
      let target = try live.target(level)
      let answer: Lookup<Data>
      if let glance = live.glance {
        (answer, result.size) = try await glance(key, level)
      } else {
        answer = try await target.lookup(key)
      }
      switch answer {
      case .hit(let entry):
        result.outcome = .hit
        result.level = entry.level
        result.isStale = entry.isStale
        result.value = entry.value
      case .miss(let reason):
        result.outcome = .miss
        result.reason = reason.rawValue
      }
    } note: {
      Self.travel($0)
    }
  }

  /// Which levels a read filled on its way back, and who shared it.
  private static func travel(_ events: [CacheEvent]) -> String? {
    var parts: [String] = []
    let unfit = events.compactMap { $0.isUnfit ? $0.level : nil }
    let filled = events.levels { if case .stored(.backFill, _, _, _) = $0 { true } else { false } }
      .filter { !unfit.contains($0) }
    if !filled.isEmpty { parts.append("back-filled \(filled.joined(separator: ", "))") }
    let joins = events.compactMap { if case .flightJoined(let callers) = $0.kind { callers } else { nil } }
    if let callers = joins.last { parts.append("\(callers) callers shared one load") }
    for event in events {
      guard let name = event.level, case .operated(let operation) = event.kind, let words = operation.told(by: name),
        !parts.contains(words)
      else { continue }
      parts.append(words)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension [CacheEvent] {
  /// The levels of the events of a kind, each once.
  func levels(where test: (CacheEvent.Kind) -> Bool) -> [String] {
    var names: [String] = []
    for event in self where test(event.kind) {
      if let level = event.level, !names.contains(level) { names.append(level) }
    }
    return names
  }
}

extension CacheEvent {
  /// A value did not fit into the level at all: it is the one that had to make room for itself.
  var isUnfit: Bool {
    if case .removed(.evicted, _) = kind { return key != nil && madeRoomFor == key }
    return false
  }
}

extension OperatorEvent {
  /// What a reader should know of it; `nil` for what is as usual.
  fileprivate func told(by name: String) -> String? {
    switch self {
    case .refused: "refused by \(name)"
    case .queued: "waited at \(name)"
    case .retried(let attempt, _, _): "attempt \(attempt) by \(name)"
    case .timedOut: "given up by \(name)"
    case .fellBack: "covered by \(name)"
    case .rememberedMiss: "remembered by \(name)"
    case .shared(.followed): "loaded by another process"
    case .servedStale, .refreshBegan, .refreshEnded, .admitted, .released, .circuit, .shared: nil
    }
  }
}
