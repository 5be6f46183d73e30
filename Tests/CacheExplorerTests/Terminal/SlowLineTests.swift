import CPseudoTerminal
import CacheEngineTesting
import PseudoTerminal
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal
@testable import ExplorerText

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// Among the tests of the terminal: curses has one screen at a time.
extension TerminalTests {
  /// A terminal behind a line that carries so many bytes a second, by a clock that the test turns.
  @Suite("Slow line", .serialized, .timeLimit(.minutes(10)))
  @MainActor
  struct SlowLineTests {
    @MainActor
    private final class Clock {
      var now = ContinuousClock.now
      var alarm: (due: ContinuousClock.Instant, ring: @MainActor () -> Void)?
    }

    @MainActor
    private final class Line {
      let rig = TerminalRig(width: 120, height: 40)
      let terminal: Terminal
      private let clock = Clock()
      private let begin: ContinuousClock.Instant
      private let rate: Int
      private var carried: ArraySlice<UInt8> = []
      private var answers = 0
      private(set) var events = 0
      private var credit = 0

      /// Milliseconds since the beginning.
      var elapsed: Int { Int(begin.duration(to: clock.now) / .milliseconds(1)) }

      init(rate: Int, answers: Bool = true) throws {
        self.rate = rate
        begin = clock.now
        rig.answersQuestions = answers
        var options = rig.options()
        options.now = { [clock] in clock.now }
        options.setAlarm = { [clock] _, delay, ring in clock.alarm = delay.map { (clock.now + $0, ring) } }
        terminal = try Terminal(options)
      }

      /// Ten milliseconds later.
      func step() async throws {
        clock.now += .milliseconds(10)
        if let due = clock.alarm, due.due <= clock.now {
          clock.alarm = nil
          due.ring()
        }
        carried += rig.take()
        credit = min(credit + rate, carried.count * 100)
        let arrived = carried.prefix(credit / 100)
        carried = carried.dropFirst(arrived.count)
        credit -= arrived.count * 100
        let asked = rig.emulator.questions
        rig.feed(arrived)
        guard rig.answersQuestions else { return }
        answers += rig.emulator.questions - asked
        try await turns { terminal.pace.answers >= answers }
      }
    }

    /// A picture whose every row is another one each time, with a line that is typed at the bottom.
    private func picture(_ number: Int, typed: String = "") -> Canvas {
      var canvas = Canvas(Size(width: 120, height: 40))
      for y in 0..<39 {
        canvas.write(DisplayText("row \(y) \(String(repeating: "\(number % 10)", count: 100))"), x: 0, y: y)
      }
      canvas.write(DisplayText(":" + typed), x: 0, y: 39)
      canvas.cursor = Point(x: 1 + typed.count, y: 39)
      return canvas
    }

    @Test(
      "a typed key shows within half a second at 4 KB/s, however much changes beside it",
      arguments: [
        (4_000, 500), (1_000, 1_000),
      ])
    func echoes(rate: Int, within limit: Int) async throws {
      let line = try Line(rate: rate)
      defer { line.terminal.close() }
      line.terminal.show(picture(0))
      while !line.rig.emulator.screen.rows[38].contains("row 38") { try await line.step() }
      var (number, typed, longest) = (1, "", 0)
      for letter in "typed" {
        // Twenty pictures a second for a while, and then a key.
        for count in 0..<37 {
          if count % 5 == 0 { line.terminal.show(picture(number)) }
          number += 1
          try await line.step()
        }
        typed.append(letter)
        let pressed = line.elapsed
        line.rig.type("\(letter)")
        let events = line.terminal.input.makeAsyncIterator()
        _ = await events.next(isolation: #isolation)
        let wanted = ":" + typed
        var count = 0
        while line.rig.emulator.screen.rows[39] != wanted {
          if count % 5 == 0 { line.terminal.show(picture(number, typed: typed)) }
          (number, count) = (number + 1, count + 1)
          try await line.step()
        }
        longest = max(longest, line.elapsed - pressed)
      }
      #expect(longest <= limit, "\(longest) ms at \(rate) B/s")
    }

    @Test("the newest picture is whole in the end, and those before it were left out")
    func newest() async throws {
      let line = try Line(rate: 4_000)
      defer { line.terminal.close() }
      for number in 0..<200 {
        line.terminal.show(picture(number))
        try await line.step()
      }
      let last = picture(207, typed: "end")
      line.terminal.show(last)
      let begin = line.elapsed
      let wanted = String(repeating: "7", count: 100)
      while !line.rig.emulator.screen.rows.prefix(39).allSatisfy({ $0.hasSuffix(wanted) }),
        line.elapsed - begin < 10_000
      {
        try await line.step()
      }
      // One picture of 4.7 KB, and not two hundred of them.
      #expect(line.elapsed - begin < 3_000)
    }

    @Test(
      "what follows two pictures that were sent before the first answer comes as well",
      arguments: [2_000, 10_000, 40_000])
    func twoFirst(rate: Int) async throws {
      let line = try Line(rate: rate)
      defer { line.terminal.close() }
      for number in 0..<2 { line.terminal.show(picture(number)) }
      for _ in 0..<1_000 { try await line.step() }
      line.terminal.show(picture(2))
      let begin = line.elapsed
      while !line.rig.emulator.screen.rows[38].hasSuffix("2222"), line.elapsed - begin < 10_000 {
        try await line.step()
      }
      #expect(line.elapsed - begin < 5_000)
    }

    @Test("a terminal that answers nothing gets every picture that a key asks for")
    func silent() async throws {
      let line = try Line(rate: 1_000_000, answers: false)
      defer { line.terminal.close() }
      for number in 0..<20 {
        line.rig.type("x")
        let events = line.terminal.input.makeAsyncIterator()
        _ = await events.next(isolation: #isolation)
        line.terminal.show(picture(number))
        try await line.step()
        #expect(line.rig.emulator.screen.rows[38].hasSuffix("\(number % 10)"))
      }
    }

    @Test("no answer is left for the shell")
    func answersTaken() throws {
      let rig = TerminalRig(width: 120, height: 40)
      let terminal = try Terminal(rig.options())
      terminal.show(picture(1))
      _ = rig.read(terminal)
      // The answers have come and nobody has read them.
      terminal.close()
      var waiting = pollfd(fd: rig.pair.device, events: Int16(POLLIN), revents: 0)
      // The shell's modes are back: what is there is read by the line, so one is ended.
      rig.type("\n")
      #expect(unsafe poll(&waiting, 1, 1_000) == 1)
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = unsafe read(rig.pair.device, &bytes, bytes.count)
      #expect(Array(bytes.prefix(max(0, count))) == [0x0a])
    }
  }
}
