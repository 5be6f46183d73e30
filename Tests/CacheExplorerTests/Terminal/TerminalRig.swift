import CPseudoTerminal
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerTerminal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A pseudo-terminal: a `Terminal` on one end, what it shows on the other.
@MainActor
final class TerminalRig {
  var pair = cpt_terminal()
  var emulator: TerminalEmulator
  let before: [UInt8]
  var answersQuestions = true

  init(width: Int = 20, height: Int = 4) {
    #expect(unsafe cpt_open(&pair, Int32(width), Int32(height)) == 0)
    emulator = TerminalEmulator(width: width, height: height)
    before = Self.modes(pair.device)
  }

  deinit {
    close(pair.master)
    close(pair.device)
  }

  var modes: [UInt8] { Self.modes(pair.device) }

  static func modes(_ device: Int32) -> [UInt8] {
    var modes = termios()
    unsafe tcgetattr(device, &modes)
    return unsafe withUnsafeBytes(of: &modes) { unsafe Array($0) }
  }

  func options(_ environment: [String: String] = [:]) -> Terminal.Options {
    var options = Terminal.Options(environment: ["TERM": "xterm-256color"].merging(environment) { $1 })
    (options.input, options.output) = (pair.device, pair.device)
    options.ownsProcess = false
    return options
  }

  /// Reads on until so many bytes have come.
  func read(_ terminal: Terminal) -> [UInt8] {
    var all: [UInt8] = []
    while received + all.count < terminal.bytesWritten {
      var waiting = pollfd(fd: pair.master, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, 10_000) == 1 else { break }
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = systemRead(pair.master, &bytes)
      guard count > 0 else { break }
      all += bytes.prefix(count)
    }
    received += all.count
    feed(all)
    return all
  }
  private var received = 0

  /// What the terminal shows, and what it answers.
  func feed(_ bytes: some Sequence<UInt8>) {
    let questions = emulator.questions
    emulator.feed(bytes)
    guard answersQuestions else { return }
    type(String(repeating: "\u{1b}[0n", count: emulator.questions - questions))
  }

  /// Takes what has come so far, without showing it.
  func take() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65536)
    var waiting = pollfd(fd: pair.master, events: Int16(POLLIN), revents: 0)
    var all: [UInt8] = []
    while unsafe poll(&waiting, 1, 0) == 1 {
      let count = systemRead(pair.master, &bytes)
      guard count > 0 else { break }
      all += bytes.prefix(count)
    }
    return all
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(unsafe write(pair.master, bytes, bytes.count) == bytes.count)
  }
}

private func systemRead(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Int {
  unsafe read(descriptor, &bytes, bytes.count)
}
