import CacheEngine
import Dispatch
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerText
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes what enters the model into a file, on a queue of its own.
///
/// Whoever hands over a message does not wait. When more waits to be written than there is room for, events are left out
/// and counted; the file never grows beyond its limit.
final class Recorder: Sendable {
  /// So many events and lines may wait to be written, and whoever ends the session waits for them.
  static let mostWaiting = 20_000

  private enum Letter: Sendable {
    case message(at: Int64, Message)
    case picture(at: Int64, checksum: UInt64?)
  }

  private struct Waiting {
    var letters: [Letter] = []
    var weight = 0
    /// Events that were left out since the last ones that were taken, and what was counted with them.
    var leftOut = 0
    var uncounted: CacheStatistics.Snapshot?
    var status = RecordingStatus()
    var problem: String?
    var isScheduled = false
  }

  let path: String
  let limit: Int
  let isMasked: Bool
  /// The file tells everything from the start of the session, so that the pictures are those that were shown.
  let isWhole: Bool
  private let clock: any CacheClock
  private let began: CacheInstant
  private let waiting: Mutex<Waiting>
  private let writer: Mutex<RecordingWriter>
  private let mostWaiting: Int
  private let queue: DispatchQueue

  /// `queue`: Where it is written.
  ///
  /// - Throws: ``CommandFailure`` if the file cannot be made, or holds something else.
  init(
    path: String, model: Model, isWhole: Bool, limit: Int = RecordingFormat.usualLimit,
    clock: any CacheClock = SystemClock(), mostWaiting: Int = Recorder.mostWaiting,
    queue: DispatchQueue = DispatchQueue(label: "cache-explorer.recorder")
  ) throws(CommandFailure) {
    self.path = path
    self.mostWaiting = mostWaiting
    self.queue = queue
    self.limit = limit
    self.clock = clock
    self.isWhole = isWhole
    isMasked = model.isMasked
    began = clock.now
    let file = try RecordingFile(creating: path)
    var writer = RecordingWriter(file: file, limit: limit, mask: model.isMasked ? RecordingMask() : nil)
    writer.begin(SessionStart(model, isMasked: model.isMasked), isWhole: isWhole, started: clock.timeSinceEpoch)
    waiting = Mutex(Waiting(status: RecordingStatus(bytes: writer.bytes)))
    self.writer = Mutex(writer)
  }

  /// How it does at this moment.
  var status: RecordingStatus { waiting.withLock { $0.status } }

  /// Why it stopped, if it did.
  var problem: String? { waiting.withLock { $0.problem } }

  private var now: Int64 { began.duration(to: clock.now).clampedNanoseconds }

  /// Notes a message.
  ///
  /// `before`: What it met in the model. `mode`: What keys are for since.
  func note(_ message: Message, from before: InputState, to mode: Model.Mode) {
    guard let message = isMasked ? RecordingMask.kept(message, from: before, to: mode) : message else { return }
    let at = now
    let mustSchedule = waiting.withLock { waiting in
      guard waiting.status.phase == .going else { return false }
      var message = message
      if waiting.weight > mostWaiting, message.weight > 1 {
        // What follows makes up for log lines and lists; events are known to be missing.
        if case .events(let events, let lost, let counted) = message {
          waiting.leftOut += events.count + lost
          if let counted { waiting.uncounted = waiting.uncounted.adding(counted) }
        }
        return false
      }
      if waiting.leftOut > 0, case .events(let events, let lost, let counted) = message {
        let counts = waiting.uncounted.map { Optional($0).adding(counted ?? .init()) } ?? counted
        message = .events(events, lost: lost + waiting.leftOut, counted: counts)
        waiting.status.lost += waiting.leftOut
        (waiting.leftOut, waiting.uncounted) = (0, nil)
      }
      waiting.weight += message.weight
      waiting.letters.append(.message(at: at, message))
      defer { waiting.isScheduled = true }
      return !waiting.isScheduled
    }
    if mustSchedule { schedule() }
  }

  /// Notes that a picture is shown.
  func notePicture(_ canvas: Canvas) {
    let at = now
    let mayCompare = isWhole && !isMasked && waiting.withLock { $0.status.lost + $0.leftOut == 0 }
    let checksum = mayCompare ? canvas.checksum : nil
    let mustSchedule = waiting.withLock { waiting in
      guard waiting.status.phase == .going else { return false }
      waiting.letters.append(.picture(at: at, checksum: checksum))
      defer { waiting.isScheduled = true }
      return !waiting.isScheduled
    }
    if mustSchedule { schedule() }
  }

  private func schedule() { queue.async { self.writeWaiting() } }

  private func writeWaiting() {
    let (letters, lost) = waiting.withLock { waiting in
      defer { (waiting.letters, waiting.weight, waiting.isScheduled) = ([], 0, false) }
      return (waiting.letters, waiting.status.lost + waiting.leftOut)
    }
    let (phase, bytes, problem) = writer.withLock { writer in
      writer.lost = lost
      for letter in letters {
        switch letter {
        case .message(let at, let message): writer.write(message, at: at)
        case .picture(let at, let checksum): writer.writePicture(checksum, at: at)
        }
      }
      writer.flush()
      return (writer.phase, writer.bytes, writer.problem)
    }
    waiting.withLock { waiting in
      (waiting.status.phase, waiting.status.bytes, waiting.problem) = (phase, bytes, problem)
    }
  }

  /// Writes what waits.
  func flush() { queue.sync { writeWaiting() } }

  /// Writes what waits and the last line, and closes the file; calling it twice is harmless.
  @discardableResult
  func finish() -> RecordingStatus {
    let at = now
    queue.sync {
      writeWaiting()
      let (bytes, problem) = writer.withLock { writer in
        writer.end(.closed, at: at)
        return (writer.bytes, writer.problem)
      }
      waiting.withLock { ($0.status.bytes, $0.problem) = (bytes, problem) }
    }
    return status
  }
}

/// Changes the model by what happened, and tells the recorder of it.
func update(_ model: inout Model, _ message: Message, notedBy recorder: Recorder?) -> [Effect] {
  let before = InputState(model)
  let effects = update(&model, message)
  recorder?.note(message, from: before, to: model.mode)
  return effects
}

extension CacheStatistics.Snapshot? {
  fileprivate func adding(_ other: Wrapped) -> Wrapped {
    var sum = self ?? Wrapped()
    sum += other
    return sum
  }
}

extension Message {
  /// How much there is to write, in events and lines.
  fileprivate var weight: Int {
    switch self {
    case .events(let events, _, _): 1 + events.count
    case .log(let lines, _): 1 + lines.count
    case .snapshot(_, let contents): 1 + contents.count
    default: 1
    }
  }
}
