#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

extension RedisNode {
  /// Tells somebody of changes of names that begin so, from when it hears of them.
  func listen(_ number: Int, _ prefixes: [[UInt8]], _ send: @escaping @Sendable (SharedInvalidation) -> Void) {
    feeds.add(number, prefixes, send)
    if case .ready(let connection) = state.withLock({ $0.phase }) {
      // It belongs to a cluster, and was asked as if it were alone: others will listen.
      if connection.isCluster, case .alone = role { return }
      listen()
    } else {
      connect()
    }
  }

  /// Asks the server to tell what somebody listens for and it does not tell yet.
  func listen() {
    let begun = state.withLock { state -> (RedisConnection, RedisConnection?, isOld: Bool)? in
      guard case .ready(let connection) = state.phase, !state.isListening else { return nil }
      state.isListening = true
      return (connection, state.ear, state.isOld)
    }
    guard let (connection, ear, isOld) = begun else { return }
    Task { [weak self, feeds, settings, instance, names] in
      var (ear, error) = (ear, nil as CacheError?)
      var hearsBy: RedisSettings.Invalidations?
      do {
        while true {
          var missing = feeds.missing(on: ear ?? connection)
          if ear == nil, !missing.isEmpty {
            do {
              let widened = feeds.widened(by: missing)
              let asked = (widened ?? missing).map(names.written)
              try await feeds.ask(.track, on: connection) {
                try await $0.track(asked, settings, isOld: isOld, isAnew: widened != nil)
              }
              // What was changed just before that is told to nobody.
              if widened != nil { feeds.tellEverything(.overflow) }
            } catch let refusal as CacheError
              where refusal.code == .refusedByServer && settings.invalidations != .tracking
            {
              // Those who hear already would not know that they hear nothing while this changes.
              guard !feeds.isTold(on: connection) else { throw refusal }
              do {
                ear = try await RedisConnection.ear(of: connection, settings, feeds, instance)
                missing = ear.map { feeds.missing(on: $0) } ?? []
                try await ear?.subscribe(missing, settings)
              } catch {
                ear?.close(.init(.closed, "nothing is listened to", level: settings.name))
                ear = nil
                throw Self.deaf(refusal, error)
              }
            }
          } else if !missing.isEmpty {
            try await ear?.subscribe(missing, settings)
          }
          hearsBy = ear == nil ? .tracking : .channel
          feeds.track(missing, on: ear ?? connection)
          if feeds.missing(on: ear ?? connection).isEmpty { break }
        }
      } catch let failure {
        error = failure as? CacheError
      }
      self?.heard(connection, ear, hearsBy, error)
      if self == nil { ear?.close(.init(.closed, "the store was closed", level: settings.name)) }
    }
  }

  private static func deaf(_ refusal: CacheError, _ error: any Error) -> any Error {
    guard let error = error as? CacheError else { return error }
    let first = refusal.message == notAsked ? "" : "; and tracking: \(refusal.message)"
    return CacheError(
      error.code, "changes are not heard of: \(error.message)\(first)", level: error.level, underlying: error)
  }

  /// It was found out how changes are heard.
  private func heard(
    _ connection: RedisConnection, _ ear: RedisConnection?, _ hearsBy: RedisSettings.Invalidations?,
    _ error: CacheError?
  ) {
    let isCurrent = state.withLock { state in
      state.isListening = false
      state.listeningError = error
      guard case .ready(let current) = state.phase, current === connection else { return false }
      state.ear = ear
      state.hearsBy = hearsBy ?? state.hearsBy
      return true
    }
    if !isCurrent { ear?.close(CacheError(.unreachable, "the connection beside it was lost", level: name)) }
    // It may have been lost before anybody knew that it was this one.
    if let end = ear?.end { connection.close(end) }
    if isCurrent, let error, !((error.underlying as? CacheError) ?? error).isLastingRefusal { listenLater() }
    // A new connection, or a new listener; not what was refused.
    if !isCurrent || (error == nil && feeds.isAwaited(on: ear ?? connection)) { listen() }
  }

  /// Asks once more: what failed was no refusal, or may be allowed then.
  private func listenLater() {
    let pause = settings.pauses.upperBound
    state.withLock { state in
      guard case .ready = state.phase else { return }
      state.work?.cancel()
      state.work = Task { [weak self, clock] in
        do { try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil) } catch { return }
        self?.listen()
      }
    }
  }

  /// What the server tells by itself.
  static func pushed(_ values: [RESPValue], _ feeds: RedisFeeds, _ written: RedisNames) {
    guard values.count == 2, values[0].string == "invalidate" else { return }
    switch values[1] {
    case .array(let names):
      feeds.tell(
        names.compactMap { name in
          if case .bytes(let bytes) = name { written.read(bytes) } else { nil }
        })
    default: feeds.tellEverything(.flushed)
    }
  }

  static let notAsked = "tracking is not asked for"

  // MARK: Telling

  /// What is to be told through channels of changes, as far as that is allowed.
  ///
  /// - Throws: Why it is not, where others hear by nothing else.
  func messages(telling changes: [SharedChange]) async throws -> [RedisChannel.Message] {
    guard settings.invalidations != .tracking else { return [] }
    var messages: [RedisChannel.Message] = []
    let now = clock.now
    for message in RedisChannel.messages(telling: changes, by: instance, database: settings.database) {
      let (known, mustTell) = state.withLock { state in
        (state.channels[message.channel], settings.invalidations == .channel || state.hearsBy == .channel)
      }
      var refusal: CacheError?
      if let known, now < known.end { refusal = known.refusal } else { refusal = try await tryToTell(message.channel) }
      if let refusal, mustTell { throw refusal }
      if refusal == nil { messages.append(message) }
    }
    return messages
  }

  /// Finds out whether it may be told through a channel.
  private func tryToTell(_ channel: [UInt8]) async throws -> CacheError? {
    let connection = try await connection()
    var (refusal, end) = (nil as CacheError?, CacheInstant(nanoseconds: .max))
    do {
      try await feeds.ask(.publish, on: connection) { [settings] in
        guard case .error(let text) = try await $0.ask([[Array("PUBLISH".utf8), channel, []]])[0] else { return }
        throw RedisRefusal.error(text, settings)
      }
    } catch let error as CacheError where error.isLastingRefusal {
      refusal = error
    } catch let error as CacheError where error.code == .refusedByServer && error.underlying != nil {
      // Perhaps it was chance that connections ended then.
      (refusal, end) = (error, clock.now.advanced(by: settings.pauses.upperBound))
    }
    state.withLock { state in
      guard case .ready(let current) = state.phase, current === connection else { return }
      // As many as there are namespaces, unless names are made up.
      if state.channels.count >= 1_024 { state.channels = [:] }
      state.channels[channel] = (refusal, end)
    }
    return refusal
  }
}

extension RedisConnection {
  /// Asks the server to tell of names on this connection; `isAnew`: and of nothing else that it told of before.
  fileprivate func track(
    _ prefixes: [[UInt8]], _ settings: RedisSettings, isOld: Bool, isAnew: Bool
  ) async throws {
    if isOld || settings.invalidations == .channel {
      throw CacheError(.refusedByServer, RedisNode.notAsked, level: settings.name)
    }
    func words(_ text: String) -> [[UInt8]] { text.split(separator: " ").map { Array($0.utf8) } }
    let command =
      words("CLIENT TRACKING ON BCAST") + prefixes.flatMap { [Array("PREFIX".utf8), $0] } + words("NOLOOP")
    let replies = try await ask(
      isAnew ? [words("MULTI"), words("CLIENT TRACKING OFF"), command, words("EXEC")] : [command])
    for case .error(let text) in replies { throw RedisRefusal.error(text, settings) }
    guard case .array(let values)? = replies.last else { return }
    for case .error(let text) in values {
      // Those who heard before do not hear any more.
      let error = RedisRefusal.error(text, settings)
      close(error)
      throw error
    }
  }

  /// A second connection, which listens to channels and ends with the first one.
  fileprivate static func ear(
    of connection: RedisConnection, _ settings: RedisSettings, _ feeds: RedisFeeds, _ instance: [UInt8]
  ) async throws -> RedisConnection {
    let ear = try await connect(settings, for: .channels) { values in
      guard values.count == 3, case .bytes(let bytes) = values[2] else { return feeds.tellEverything(.overflow) }
      switch RedisChannel.read(bytes) {
      case .nothing: break
      case .names(let names, by: instance): feeds.tellOwn(names)
      case .names(let names, by: _): feeds.tell(names)
      case .unreadable: feeds.tellEverything(.overflow)
      }
    } onClose: { ear, error in
      // Before anybody hears by it, nothing else ends with it.
      let isHeard = feeds.isTold(on: ear)
      feeds.lose(ear, lastHeard: ear.lastHeard)
      if isHeard, error.code != .closed { connection.close(error) }
    }
    do { _ = try await ear.greet(isKnown: true) } catch {
      ear.close(error as? CacheError ?? CacheError(.closed, "nothing is listened to", level: settings.name))
      throw error
    }
    return ear
  }

  /// Listens to the channels on which changes of names that begin so are told.
  fileprivate func subscribe(_ prefixes: [[UInt8]], _ settings: RedisSettings) async throws {
    let channels = try prefixes.map { prefix in
      guard let channel = RedisChannel.name(for: prefix, database: settings.database) else {
        throw CacheError(
          .refusedByServer, "only changes of a namespace's names are heard by a channel: give prefixes as photos:r:",
          level: settings.name)
      }
      return channel
    }
    for reply in try await ask(Set(channels).map { [Array("SUBSCRIBE".utf8), $0] }) {
      switch reply {
      case .error(let text): throw RedisRefusal.error(text, settings)
      case .push(let values) where values.first?.string == "subscribe",
        .array(let values) where values.first?.string == "subscribe":
        continue
      default:
        throw CacheError(
          .invalidResponse, "the server's reply to SUBSCRIBE is of another kind than Redis gives", level: settings.name)
      }
    }
  }
}
#endif
