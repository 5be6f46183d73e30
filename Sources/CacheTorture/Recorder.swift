#if Explorer
import CacheEngine
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A history that is kept as it happens: in memory, and line by line in a file if there is one.
///
/// Beside it stands the ``Ledger`` for who cuts the power.
///
/// A line is in the hands of the system before the call returns, so the death of this program does not lose it.
final class Recorder: Sendable {
  private struct State {
    var history: History
    var ledger: Ledger
    var last: Int
    /// For each key that several processes write: what was seen there, when it was last seen, and what is seen now.
    var past: [String: [Int: Int]] = [:]
    var shown: [String: (number: Int, ended: Int)] = [:]
    var looks = 0
  }

  private let state: Mutex<State>
  private let descriptor: Int32
  private let moment: @Sendable () -> Int
  private let announces: Bool

  /// - Parameters:
  ///   - history: What was before.
  ///   - ledger: What the disk has of it.
  ///   - path: A file for the lines.
  ///   - announces: Whether every answer is told to the reader of the standard output, by one byte.
  ///   - moment: Counts what was done to the disk.
  /// - Throws: ``Failure`` if the file cannot be written.
  init(
    _ history: History = History(), _ ledger: Ledger = Ledger(), appendingTo path: String? = nil,
    announces: Bool = false,
    moment: @escaping @Sendable () -> Int = { 0 }
  ) throws {
    state = Mutex(State(history: history, ledger: ledger, last: history.nextNumber - 1))
    self.announces = announces
    self.moment = moment
    descriptor = path.map { unsafe open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
    if let path, descriptor < 0 { throw Failure("cannot write the log \(path)") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var history: History { state.withLock { $0.history } }

  var ledger: Ledger { state.withLock { $0.ledger } }

  func objection(to found: Data?, for key: String, mayEvict: Bool) -> String? {
    state.withLock { $0.history.objection(to: found, for: key, mayEvict: mayEvict) }
  }

  func begin(_ key: String, _ work: History.Work, _ durability: Durability = .buffered) -> History.Operation {
    let now = moment()
    return state.withLock { state in
      state.last += 1
      let operation = History.Operation(number: state.last, key: key, work: work)
      state.history.intend(operation)
      state.ledger.begin(operation, isSynced: durability == .synced, at: now)
      put(History.intention(operation))
      return operation
    }
  }

  /// Notes an answer; `unknown` is for a failure on a disk that may not even take back what it has.
  func end(_ operation: History.Operation, _ outcome: History.Outcome) {
    guard outcome != .unknown else { return }
    let now = moment()
    state.withLock { state in
      state.history.conclude(operation.number, outcome)
      if outcome == .acknowledged { state.ledger.end(operation.number, at: now) }
      put(History.conclusion(operation.number, outcome))
      var byte = UInt8(ascii: ".")
      if announces { _ = unsafe write(STDOUT_FILENO, &byte, 1) }
    }
  }

  /// A number that no set had in this process, nor in one that wrote to the same log before.
  func hotNumber() -> Int {
    let operation = state.withLock { state in
      state.last += 1
      let operation = History.Operation(number: state.last, key: "hot", work: .remove)
      put(History.intention(operation))
      return operation
    }
    return operation.number
  }

  /// Notes that a look begins.
  func lookBegan() -> Int {
    state.withLock { state in
      state.looks += 1
      return state.looks
    }
  }

  /// Says what is wrong with a value that is seen of a key; every value is set once, so what was replaced never comes back.
  ///
  /// `began`: A look that began before another ended may tell of an earlier moment.
  func objection(toSeen number: Int, of key: String, since began: Int) -> String? {
    state.withLock { state in
      state.looks += 1
      if let gone = state.past[key]?[number], gone < began {
        return "\(key) shows operation \(number) again, which had been replaced"
      }
      if let shown = state.shown[key] {
        // Of two simultaneous looks, nobody knows which one saw the later moment.
        guard shown.ended < began, shown.number != number else { return nil }
        state.past[key, default: [:]][shown.number] = state.looks
      }
      state.shown[key] = (number, state.looks)
      return nil
    }
  }

  private func put(_ line: String) {
    guard descriptor >= 0 else { return }
    var line = line
    let isWhole = line.withUTF8 { bytes in unsafe write(descriptor, bytes.baseAddress, bytes.count) == bytes.count }
    // Without the log nothing can be proved; the parent sees the code.
    if !isWhole { exit(3) }
  }
}

/// Why the program cannot go on, or which promise was broken.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
#endif
