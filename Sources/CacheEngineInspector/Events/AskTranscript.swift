import CacheEngine
import Synchronization

/// What happened on behalf of one question.
final class AskTranscript: Sendable {
  @TaskLocal static var current: AskTranscript?

  private let log = Mutex<[CacheEvent]>([])

  var events: [CacheEvent] { log.withLock { $0 } }

  func append(_ event: CacheEvent) {
    log.withLock { if $0.count < WireLimits.transcript { $0.append(event) } }
  }
}
