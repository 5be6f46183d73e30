import CacheEngine
import CacheEngineInspector
import ExplorerCommands
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The cache of another process, or a level of it: every call goes over the connection.
struct RemoteCache: CacheLevel {
  let client: InspectorClient
  /// `nil` for the whole cache.
  let level: String?

  var name: String { level ?? client.welcome.app }

  func get(_ key: String) async throws -> Data? { try await lookup(key).entry?.value }

  func lookup(_ key: String) async throws -> Lookup<Data> {
    let (answer, size) = try await lookup(key, atMost: WireLimits.kept)
    if let size { throw Self.isCut(to: answer.entry?.value.count ?? 0, of: size) }
    return answer
  }

  /// Reads as the app does, and gives the beginning of the value.
  ///
  /// - Returns: What was found, and how many bytes the value has if that is more.
  func lookup(_ key: String, atMost count: Int) async throws -> (Lookup<Data>, size: Int?) {
    let answer = try await client.perform(ClientLine.Ask(.get, level: level, key: key), bytes: count)
    guard answer.outcome == "hit" else { return (.miss(MissReason(rawValue: answer.reason ?? "absent")), nil) }
    var entry = Entry(
      answer.value ?? Data(), deadline: answer.deadline.map { CacheInstant(nanoseconds: $0) }, level: answer.level)
    entry.isStale = answer.isStale ?? false
    return (.hit(entry), answer.size)
  }

  fileprivate static func isCut(to count: Int, of size: Int) -> CommandFailure {
    CommandFailure(
      message: "the app gives the first \(Format.bytes(count)) of \(Format.bytes(size)); v shows the beginning")
  }

  func set(_ value: Data, forKey key: String) async throws { try await store(value, forKey: key, terms: StoreTerms()) }

  func store(_ value: Data, forKey key: String, terms: StoreTerms) async throws {
    var ask = ClientLine.Ask(.set, level: level, key: key)
    ask.value = value
    if let created = terms.created {
      // What is put back has moments that the app has told, by its own clock.
      let deadline: CacheInstant? = if case .at(let deadline)? = terms.expiry { deadline } else { nil }
      ask.terms = EntryTerms(created: created, deadline: deadline, tags: terms.tags)
    } else {
      ask.lifetime = terms.deadline(levelDefault: .never, clock: SystemClock()).map {
        SystemClock().now.duration(to: $0).clampedNanoseconds
      }
    }
    _ = try await client.perform(ask)
  }

  func remove(_ key: String) async throws {
    _ = try await client.perform(ClientLine.Ask(.remove, level: level, key: key))
  }

  func clear() async throws { _ = try await client.perform(ClientLine.Ask(.clear, level: level)) }

  func onMemoryWarning() async {
    // A level does not answer a warning either; the header says that the app is gone.
    _ = try? await client.perform(ClientLine.Ask(.warn, level: level))
  }
}

/// What a level of another process holds.
struct RemoteStorage: StorageLevel, PagedStorage, PartialStorage {
  let client: InspectorClient
  let level: String

  var name: String { level }
  var usage: LevelUsage { client.usage[level] ?? LevelUsage(count: 0, cost: 0) }

  /// Reads past counters and observers.
  func get(_ key: String) async throws -> Data? {
    guard let (bytes, size) = try await beginning(of: key, atMost: WireLimits.kept) else { return nil }
    guard bytes.count == size else { throw RemoteCache.isCut(to: bytes.count, of: size) }
    return bytes
  }

  func beginning(of key: String, atMost count: Int) async throws -> (bytes: Data, of: Int)? {
    let answer = try await client.perform(ClientLine.Ask(.look, level: level, key: key), bytes: count)
    return answer.value.map { ($0, answer.size ?? $0.count) }
  }

  /// What the app has, for those who put it back: it has to be whole, and all of it known.
  func lookupIncludingExpired(_ key: String) async throws -> Lookup<Data> {
    let answer = try await client.perform(ClientLine.Ask(.look, level: level, key: key), bytes: WireLimits.kept)
    guard let bytes = answer.value else { return .miss(.absent) }
    if let size = answer.size { throw RemoteCache.isCut(to: bytes.count, of: size) }
    guard let terms = answer.terms else {
      throw CommandFailure(message: "the app does not say what its entry has beside the value")
    }
    return .hit(terms.entry(bytes))
  }

  func set(_ value: Data, forKey key: String) async throws {
    try await RemoteCache(client: client, level: level).set(value, forKey: key)
  }

  func remove(_ key: String) async throws { try await RemoteCache(client: client, level: level).remove(key) }
  func clear() async throws { try await RemoteCache(client: client, level: level).clear() }

  func contents() async throws -> [EntrySummary<String>] {
    var entries: [EntrySummary<String>] = []
    try await forEachEntry { entry in
      entries.append(entry)
      return true
    }
    return entries
  }

  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
    var ask = ClientLine.Ask(.entries, level: level)
    var count = 0
    while true {
      let answer = try await client.perform(ask)
      count += answer.entries?.count ?? 0
      guard count <= WireLimits.listed + WireLimits.page else {
        throw CommandFailure(message: "the app lists more entries than it may; what it says of \(level) is left out")
      }
      for entry in answer.entries ?? [] {
        let summary = EntrySummary(
          key: entry.key, cost: entry.cost, created: CacheInstant(nanoseconds: entry.created),
          deadline: entry.deadline.map { CacheInstant(nanoseconds: $0) })
        guard body(summary) else { return }
      }
      guard let next = answer.next, next > ask.from ?? 0, next <= WireLimits.listed else { return }
      ask.from = next
    }
  }

  func expire(_ key: String) async throws {
    _ = try await client.perform(ClientLine.Ask(.expire, level: level, key: key))
  }

  /// Left to the app.
  func removeExpired() async throws -> Int { 0 }
}

extension InspectorClient {
  /// Asks, notes what happened on behalf of it, and throws what went wrong.
  ///
  /// `bytes`: The most of a value that is wanted.
  fileprivate func perform(_ question: ClientLine.Ask, bytes: Int = 0) async throws -> ServerLine.Answer {
    let answer: ServerLine.Answer
    do {
      answer = try await bytes > 0 ? read(question, atMost: bytes) : ask(question)
    } catch let error as CacheError where error.code == .disconnected {
      throw CommandFailure(message: "\(error.message); this works again once it is attached again")
    }
    for event in answer.events ?? [] { event.event.map { Transcript.current?.append($0) } }
    if answer.outcome == "failed" { throw CommandFailure(message: answer.error ?? "the app could not do it") }
    return answer
  }
}
