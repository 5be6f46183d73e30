import CacheEngine
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Makes the lines of a recording, and keeps the file within its limit.
struct RecordingWriter: ~Copyable {
  private let file: RecordingFile
  private let limit: Int
  private var mask: RecordingMask?
  private var pending: [UInt8] = []
  private var pictures = 0
  /// Warnings and errors since the last picture.
  private var trouble = 0
  /// How many events were left out so far, which the last line tells.
  var lost = 0
  private(set) var bytes = 0
  private(set) var phase = RecordingStatus.Phase.going
  private(set) var problem: String?
  private var hasEnded = false
  /// What a replay of the file comes to, where that is not what is on the screen.
  ///
  /// Keys have other names in it, or counts start from zero.
  private var replayed: Model?

  init(file: consuming RecordingFile, limit: Int, mask: RecordingMask?) {
    self.file = file
    self.limit = max(RecordingStatus.leastLimit, limit)
    self.mask = mask
  }

  mutating func begin(_ start: SessionStart, isWhole: Bool, started: Duration) {
    if mask != nil || !isWhole { replayed = start.model }
    append(
      .object([
        ("format", .text(RecordingFormat.name)), ("version", .number(RecordingFormat.version)),
        ("program", .text(ProgramVersion.text)),
        ("started", .number(Int(started.components.seconds))), ("limit", .number(limit)),
        ("masked", .flag(mask != nil)), ("whole", .flag(isWhole)), ("session", JSONText(recording: start)),
      ]))
    flush()
  }

  mutating func write(_ message: Message, at time: Int64) {
    guard phase == .going else { return }
    guard let message = mask == nil ? message : mask?.masked(message) else { return }
    trouble += message.troubles
    // Taken out first, so that the model is changed in its place.
    if var model = replayed.take() {
      _ = update(&model, message)
      replayed = model
    }
    append(.object([("at", .number(Int(time))), ("message", JSONText(recording: message))]), at: time)
  }

  /// `checksum`: Of what is shown, if a replay comes to the same.
  mutating func writePicture(_ checksum: UInt64?, at time: Int64) {
    guard phase == .going else { return }
    let checksum = checksum ?? replayed.map { $0.picture.checksum }
    pictures += 1
    append(
      .object([
        ("at", .number(Int(time))), ("picture", .number(pictures)), ("trouble", trouble > 0 ? .number(trouble) : nil),
        ("grid", checksum.map { .text(String($0, radix: 16)) }),
      ]), at: time)
    trouble = 0
  }

  /// Writes the last line, and releases the file.
  mutating func end(_ reason: RecordingFormat.End, at time: Int64) {
    guard !hasEnded else { return }
    hasEnded = true
    if phase != .broken {
      let line = JSONText.object([
        ("at", .number(Int(time))), ("end", .text(reason.rawValue)), ("pictures", .number(pictures)),
        ("lost", .number(lost)),
      ]).line
      pending += Array((line + "\n").utf8)
      bytes += line.utf8.count + 1
    }
    flush()
    file.release()
  }

  private mutating func append(_ json: JSONText, at time: Int64 = 0) {
    let line = Array((json.line + "\n").utf8)
    guard bytes + line.count + RecordingFormat.reserve <= limit else {
      end(.full, at: time)
      phase = .full
      return
    }
    pending += line
    bytes += line.count
    if pending.count > 1 << 20 { flush() }
  }

  /// Hands what was made to the system.
  mutating func flush() {
    guard !pending.isEmpty, phase != .broken else { return pending = [] }
    if let failure = file.write(pending) {
      phase = .broken
      problem = failure
    }
    pending = []
  }
}

extension Model {
  fileprivate var picture: Canvas {
    var canvas = Canvas(size)
    view(self, on: &canvas)
    return canvas
  }
}

extension Message {
  /// How many warnings and errors it tells of.
  fileprivate var troubles: Int {
    switch self {
    case .log(let lines, _): lines.reduce(0) { $0 + ($1.level >= .warning ? 1 : 0) }
    default: 0
    }
  }
}

/// A file that only its owner may read, open for writing.
struct RecordingFile: ~Copyable {
  private let descriptor: Int32

  /// A file that is there already is written over only if it is a recording, or empty.
  init(creating path: String) throws(CommandFailure) {
    guard path != "-" else {
      throw CommandFailure(message: "a recording is a file, which - does not name; name one, as in session.rec")
    }
    // Reading from a pipe that is there would wait for its writer.
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let file = unsafe open(path, flags, 0o600)
    guard file >= 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw CommandFailure(
        message: "\(path) cannot be written (\(reason)); name a file in a directory that you may write to")
    }
    // Its lines would stand between those of this one.
    guard flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
      _ = systemClose(file)
      throw CommandFailure(message: "another session is being recorded into \(path); name another file")
    }
    var first = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(file, &first, first.count)
    guard count <= 0 || first[..<count].starts(with: RecordingFormat.beginning.utf8) else {
      _ = systemClose(file)
      throw CommandFailure(message: "\(path) exists and is not a recording; name another file")
    }
    guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else {
      _ = systemClose(file)
      throw CommandFailure(message: "\(path) is not a file that can be recorded into; name another one")
    }
    // It may have been there for others to read.
    _ = fchmod(file, 0o600)
    descriptor = file
  }

  /// Writes everything; what went wrong, if something did.
  func write(_ bytes: [UInt8]) -> String? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return unsafe String(cString: strerror(errno)) }
      rest = rest.dropFirst(written)
    }
    return nil
  }

  /// What was written is kept, and another session may be recorded into the file.
  func release() {
    _ = fsync(descriptor)
    _ = flock(descriptor, LOCK_UN)
  }

  deinit { _ = systemClose(descriptor) }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
