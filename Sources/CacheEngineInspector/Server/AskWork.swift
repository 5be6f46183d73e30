import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Carries out what those who look ask for.
struct AskWork: Sendable {
  let cache: InspectedCache
  let allowsWrites: Bool
  let app: String

  /// - Returns: The answer, and what the loop hands out page by page or piece by piece.
  func answer(_ ask: ClientLine.Ask) async -> (ServerLine.Answer, InspectorLoop.Rest?) {
    let transcript = AskTranscript()
    return await AskTranscript.$current.withValue(transcript) {
      do {
        guard let word = AskWord(rawValue: ask.what) else {
          throw CacheError(.incompatibleProtocol, "\(app) does not know the question “\(ask.what)”")
        }
        guard allowsWrites || !word.changes else {
          throw CacheError(
            .readOnly, "\(app) lets nobody change its cache; serve it with allowsWrites: true")
        }
        if word == .entries {
          let listing = try await list(ask)
          return (ServerLine.Answer(id: ask.id, outcome: "done"), .list(listing))
        }
        var rest: InspectorLoop.Rest?
        var answer = try await carryOut(word, ask, &rest)
        answer.events = transcript.events.map { WireEvent($0) }
        return (answer, rest)
      } catch {
        var answer = ServerLine.Answer.failed(ask.id, String(describing: error))
        answer.events = transcript.events.map { WireEvent($0) }
        return (answer, nil)
      }
    }
  }

  private func target(_ ask: ClientLine.Ask) throws -> InspectedLevel {
    guard let name = ask.level else { return cache.whole }
    guard let index = cache.index(of: name) else {
      throw CacheError(
        .valueNotInCache,
        "there is no level “\(name)”; the levels are \(cache.levels.map(\.name).joined(separator: ", "))")
    }
    return cache.access[index]
  }

  private func key(_ ask: ClientLine.Ask) throws -> String {
    guard let key = ask.key else { throw CacheError(.incompatibleProtocol, "“\(ask.what)” needs a key") }
    return key
  }

  private func carryOut(
    _ word: AskWord, _ ask: ClientLine.Ask, _ rest: inout InspectorLoop.Rest?
  ) async throws -> ServerLine.Answer {
    let level = try target(ask)
    var answer = ServerLine.Answer(id: ask.id, outcome: "done")
    switch word {
    case .get:
      switch try await level.get(try key(ask)) {
      case .hit(let entry):
        (answer.outcome, answer.level, answer.deadline) = ("hit", entry.level, entry.deadline?.nanoseconds)
        answer.isStale = entry.isStale ? true : nil
        rest = answer.give(entry.value, ask)
      case .miss(let reason): (answer.outcome, answer.reason) = ("miss", reason.rawValue)
      }
    case .look:
      answer.outcome = "miss"
      if let entry = try await level.look(try key(ask)) {
        (answer.outcome, answer.terms) = ("hit", EntryTerms(entry))
        rest = answer.give(entry.value, ask)
      }
    case .set:
      guard let value = ask.value else { throw CacheError(.incompatibleProtocol, "“set” needs a value") }
      let lifetime = ask.lifetime.map { Expiry.after(.nanoseconds(max(0, $0))) }
      try await level.store(value, try key(ask), ask.terms?.terms ?? StoreTerms(expiry: lifetime))
    case .remove: try await level.remove(try key(ask))
    case .clear: try await level.clear()
    case .warn: await level.warn()
    case .expire:
      var count = 0
      for level in ask.level == nil ? cache.access : [level] { count += try await level.expire?(ask.key) ?? 0 }
      answer.size = count
    // The loop answers these itself, from what it kept.
    case .entries, .more: break
    }
    return answer
  }

  private func list(_ ask: ClientLine.Ask) async throws -> InspectorLoop.Listing {
    let level = try target(ask)
    guard let name = ask.level, let entries = level.entries else {
      throw CacheError(.valueNotInCache, "\(ask.level ?? "the whole cache") holds no entries that can be listed")
    }
    if let count = level.usage?().count, count > WireLimits.listed {
      throw CacheError(.tooLarge, "\(name) holds \(count) entries; up to \(WireLimits.listed) are listed")
    }
    return InspectorLoop.Listing(level: name, entries: try await entries())
  }
}

extension ServerLine.Answer {
  static func failed(_ id: Int, _ error: String) -> ServerLine.Answer {
    var answer = ServerLine.Answer(id: id, outcome: "failed")
    answer.error = WireEvent.cut(error)
    return answer
  }

  /// Sends the beginning of a large value, and how large it is.
  ///
  /// - Returns: The value, if the one who asked goes on with it.
  mutating func give(_ data: Data, _ ask: ClientLine.Ask) -> InspectorLoop.Rest? {
    let count = WireLimits.piece(ask.limit)
    value = data.prefix(count)
    guard data.count > count else { return nil }
    size = data.count
    guard ask.keeps == true, data.count <= WireLimits.kept else { return nil }
    next = count
    return .value(data)
  }
}
