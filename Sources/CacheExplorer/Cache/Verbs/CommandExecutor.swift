import CacheEngine
import ExplorerModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Carries out the commands that concern the cache itself, and says how they ended.
struct CommandExecutor: Sendable {
  let live: LiveCache

  func get(_ key: String, level name: String?) async -> CommandResult {
    await timed("get") { result in
      let target = try level(name)
      let answer: Lookup<Data>
      if let glance = live.glance {
        (answer, result.size) = try await glance(key, name)
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

  func set(
    _ key: String, to value: Command.ValueSource, timeToLive: Duration?, level name: String?
  ) async -> CommandResult {
    await timed("set") { result in
      let bytes = try await value.bytes()
      let terms = StoreTerms(expiry: timeToLive.map(Expiry.after))
      try await level(name).store(bytes, forKey: key, terms: terms)
    } note: { events in
      let stored = Self.levels(in: events) { if case .stored(.set, _, _, _) = $0 { true } else { false } }
      let unfit = events.compactMap { $0.isUnfit ? $0.level : nil }
      let kept = stored.filter { !unfit.contains($0) }
      let rest = unfit.isEmpty ? "" : "larger than \(unfit.joined(separator: ", ")), which keeps nothing of it"
      guard kept.isEmpty else {
        return "stored in \(kept.joined(separator: ", "))" + (rest.isEmpty ? "" : "; " + rest)
      }
      return "stored nowhere: " + (rest.isEmpty ? "every level is read-only" : rest)
    }
  }

  func delete(_ key: String) async -> CommandResult {
    await timed("del") { result in
      // A disk level tells what it removes on a thread of its own, and an app elsewhere: who asks before knows it all.
      var holders: [String] = []
      for level in live.holders(from: nil) where try await level.beginning(of: key, atMost: 1) != nil {
        holders.append(level.name)
      }
      try await live.cache.remove(key)
      result.note = holders.isEmpty ? "it was in no level" : "removed from \(holders.joined(separator: ", "))"
    }
  }

  func clear(level name: String?) async -> CommandResult {
    let before = live.usage
    return await timed("clear") { _ in
      try await level(name).clear()
    } note: { _ in
      let after = live.usage
      let removed = max(0, before.map { $0.value.count - (after[$0.key]?.count ?? 0) }.reduce(0, +))
      return "\(removed) \(removed == 1 ? "entry" : "entries") removed from \(name ?? "every level")"
    }
  }

  func expire(_ key: String?) async -> CommandResult {
    await timed("expire") { result in
      var count = 0
      for level in live.levels {
        guard let storage = level.storage else { continue }
        let held = try await storage.contents().map(\.key)
        for held in held where key == nil || held == key.map(level.storedKey) {
          try await storage.expire(held)
          count += 1
        }
      }
      result.note = "\(count) \(count == 1 ? "entry" : "entries") expired"
    }
  }

  func warn() async -> CommandResult {
    await timed("warn") { _ in
      await live.cache.onMemoryWarning()
    } note: { events in
      let dropped = events.compactMap { event -> String? in
        guard case .memoryWarning(let count, let cost, _) = event.kind, let level = event.level, count > 0 else {
          return nil
        }
        return "\(level) dropped \(count) \(count == 1 ? "entry" : "entries"), \(cost) \(cost == 1 ? "byte" : "bytes")"
      }
      return dropped.isEmpty ? "no level had anything to give back" : dropped.joined(separator: "; ")
    }
  }

  private func level(_ name: String?) throws -> BasicCache<String, Data> {
    guard let name else { return live.cache }
    return try named(name).level
  }

  func named(_ name: String) throws -> LiveCache.Level {
    if let level = live.level(named: name) { return level }
    let known = live.levels.map(\.name).joined(separator: ", ")
    throw CommandFailure(message: "there is no level “\(name)”; the levels are \(known)")
  }

  func timed(
    _ verb: String, _ body: (inout CommandResult) async throws -> Void,
    note: ([CacheEvent]) -> String? = { _ in nil }
  ) async -> CommandResult {
    let transcript = Transcript()
    let began = live.clock.now
    var result = CommandResult(command: verb, outcome: .ok, microseconds: 0)
    do {
      try await Transcript.$current.withValue(transcript) { try await body(&result) }
      result.note = result.note ?? note(transcript.events)
    } catch {
      result.outcome = .error
      result.error = String(describing: error)
      result.isRefused = error is CommandFailure
    }
    result.microseconds = Int(began.duration(to: live.clock.now).clampedNanoseconds / 1_000)
    return result
  }

  /// Which levels a read filled on its way back, and who shared it.
  private static func travel(_ events: [CacheEvent]) -> String? {
    var parts: [String] = []
    let unfit = events.compactMap { $0.isUnfit ? $0.level : nil }
    let filled = levels(in: events) { if case .stored(.backFill, _, _, _) = $0 { true } else { false } }
      .filter { !unfit.contains($0) }
    if !filled.isEmpty { parts.append("back-filled \(filled.joined(separator: ", "))") }
    if case .flightJoined(let callers)? = events.last(where: { $0.isJoin })?.kind {
      parts.append("\(callers) callers shared one load")
    }
    for event in events {
      guard let name = event.level, case .operated(let operation) = event.kind, let words = operation.told(by: name),
        !parts.contains(words)
      else { continue }
      parts.append(words)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func levels(in events: [CacheEvent], where test: (CacheEvent.Kind) -> Bool) -> [String] {
    var names: [String] = []
    for event in events where test(event.kind) {
      if let level = event.level, !names.contains(level) { names.append(level) }
    }
    return names
  }
}

extension Command.ValueSource {
  /// The most that a value given as a file may hold.
  private static let mostBytes = 64 << 20

  package func bytes() async throws -> Data {
    switch self {
    case .text(let text): return Data(text.utf8)
    case .file(let path):
      return try await BlockingWork.run {
        let size: Int
        do {
          size = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        } catch {
          throw CommandFailure(message: "there is no file \(path); check the path, or write the value itself")
        }
        guard size <= Self.mostBytes else {
          throw CommandFailure(message: "\(path) has \(size) bytes; a value may have \(Self.mostBytes)")
        }
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
          throw CommandFailure(message: "\(path) cannot be read; name a file that you may read")
        }
      }
    }
  }
}

extension CacheEvent {
  /// A value did not fit into the level at all: it is the one that had to make room for itself.
  var isUnfit: Bool {
    if case .removed(.evicted, _) = kind { return key != nil && madeRoomFor == key }
    return false
  }

  fileprivate var isJoin: Bool {
    if case .flightJoined = kind { return true }
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
    case .servedStale, .refreshBegan, .refreshEnded, .admitted, .released, .circuit: nil
    }
  }
}
