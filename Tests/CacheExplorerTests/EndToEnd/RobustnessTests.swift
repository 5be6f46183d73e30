import CacheEngineTesting
import Foundation
import PseudoTerminal
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the world does to a program on a terminal: crashes, signals, odd windows, odd locales, floods.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RobustnessTests {
  private func configuration(in folder: borrowing TemporaryFolder) throws -> String {
    try folder.write(
      """
      name: robust
      levels:
        - memory: { capacity: 8 MiB }
        - memory: { name: second, capacity: 16 MiB }
        - origin: { latency: 0s, size: 64 B }
      """, to: "c.yaml")
  }

  private func open(
    in folder: borrowing TemporaryFolder, width: Int = 120, height: Int = 40, more: [String] = [],
    environment: [String: String] = [:]
  ) throws -> PseudoTerminal {
    try PseudoTerminal(
      Program.path, arguments: ["open", try configuration(in: folder)] + more, width: width, height: height,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": folder.url.path()]
        .merging(environment) { $1 })
  }

  private func waitForPicture(_ terminal: PseudoTerminal) async throws {
    try await terminal.wait(for: "the first picture") {
      $0.screen.rows[0].contains("LIVE") && $0.screen.rows.last?.contains("Quit") == true
    }
  }

  @Test("QUIT gives the terminal back as every other signal does")
  func quits() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder)
    try await waitForPicture(terminal)
    terminal.signal(SIGQUIT)
    #expect(try await terminal.ending() == .exited(128 + SIGQUIT))
    expectGivenBack(terminal)
  }

  @Test("whoever asks twice ends a search that takes long, and gets the terminal back")
  func longSearch() async throws {
    let folder = try TemporaryFolder()
    // A search takes as many steps as the keys have characters, times the length of the pattern.
    let keys = (0..<200).map { String(repeating: "a", count: 20_000) + "\($0)\n" }
    let trace = try folder.write(keys.joined(), to: "trace.txt")
    let terminal = try open(in: folder, more: ["--run", "trace --file \(trace) --rate max"])
    try await waitForPicture(terminal)
    try await terminal.wait(forText: "of 200")
    terminal.send("/")
    terminal.send("\u{1b}[200~/(a?){300}b\u{1b}[201~")
    try await terminal.wait(forText: "(a?){300}b")
    #if os(Linux)
    let before = try processorTicks(of: terminal.program)
    #endif
    terminal.send("/")
    // A signal that came before the search would end the program as any other does.
    #if os(Linux)
    try await turns { try processorTicks(of: terminal.program) > before + 40 }
    #endif
    try await turns {
      terminal.signal(SIGTERM)
      return terminal.sight.ending != nil
    }
    #expect(terminal.sight.ending == .exited(128 + SIGTERM))
    expectGivenBack(terminal)
  }

  @Test(
    "a crash, or a signal that nobody expects, gives the terminal back before it ends the program, under load as at rest",
    arguments: [SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU])
  func crashes(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    // What Swift's runtime tells of a crash comes afterwards, and takes its time.
    let terminal = try open(
      in: folder, more: signal == SIGABRT ? ["--run", "zipf --rate 2000"] : [],
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    try await waitForPicture(terminal)
    terminal.send("%")
    try await terminal.wait(for: "the mouse") { !$0.screen.mouseModes.isEmpty }
    terminal.signal(signal)
    #expect(try await terminal.ending() == .signalled(signal))
    expectGivenBack(terminal)
  }

  @Test(
    "a crash leaves a report in a file and one line that says where, and waits for nobody",
    arguments: [SIGSEGV, SIGABRT, SIGTRAP])
  func crashReports(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let state = folder.url.appending(path: "state").path()
    let terminal = try open(in: folder, environment: ["XDG_STATE_HOME": state])
    try await waitForPicture(terminal)
    terminal.signal(signal)
    #expect(try await terminal.ending() == .signalled(signal))
    expectGivenBack(terminal)
    let folderOfReports = state + "/cache-explorer/crashes/"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folderOfReports).first)
    let report = try String(contentsOfFile: folderOfReports + name, encoding: .utf8)
    #expect(report.contains("crashed") && !report.contains("\u{1b}") && !report.contains("Press space"))
    #expect(String(decoding: terminal.output, as: UTF8.self).contains("the report: \(folderOfReports)\(name)"))
    #expect(!String(decoding: terminal.output, as: UTF8.self).contains("Press space"))
  }

  @Test("where no report can be kept, or somebody has settings of their own, the program starts as ever")
  func noReports() async throws {
    let folder = try TemporaryFolder()
    for environment in [["XDG_STATE_HOME": "/dev/null"], ["XDG_STATE_HOME": "/a,b c"], ["SWIFT_BACKTRACE": "color=no"]]
    {
      let terminal = try open(in: folder, environment: environment)
      try await waitForPicture(terminal)
      terminal.send("q")
      #expect(try await terminal.ending() == .exited(0))
    }
  }

  @Test("a kind of terminal that nobody has heard of is drawn on as its relatives are, and the log says so")
  func unknownTerminal() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, environment: ["TERM": "xterm-nobody-knows"])
    try await waitForPicture(terminal)
    try await terminal.wait(forText: "No description of the terminal")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("where ASCII is wanted nothing else is drawn, whatever is typed")
  func ascii() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, more: ["--ascii"])
    try await terminal.wait(for: "the picture") {
      $0.screen.rows[0].contains("o LIVE") && $0.screen.contains("1 MEMORY")
    }
    terminal.send(":set \"ключ\" v\r")
    try await terminal.wait(forText: "done")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.output.allSatisfy { $0 < 0x80 })
    expectGivenBack(terminal)
  }

  @Test("a panel that was hidden is hidden the next time; a file that is damaged is told of and left alone")
  func remembersPanels() async throws {
    let folder = try TemporaryFolder()
    var terminal = try open(in: folder)
    try await terminal.wait(for: "the picture") { $0.screen.contains("┌ Entries") && $0.screen.contains("┌ Log") }
    terminal.send("H")
    try await terminal.wait(for: "no entries") { !$0.screen.contains("┌ Entries") && $0.screen.contains("┌ Log") }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    terminal = try open(in: folder)
    try await waitForPicture(terminal)
    try await terminal.wait(for: "no entries") { !$0.screen.contains("┌ Entries") && $0.screen.contains("┌ Log") }
    terminal.send("=")
    try await terminal.wait(for: "the entries") { $0.screen.contains("┌ Entries") }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    let file = folder.url.appending(path: ".local/state/cache-explorer/panels.json")
    try Data("{".utf8).write(to: file)
    terminal = try open(in: folder)
    try await terminal.wait(forText: "panels are damaged, and left alone")
    terminal.send("Hq")
    #expect(try await terminal.ending() == .exited(0))
    #expect(try Data(contentsOf: file) == Data("{".utf8))
  }

  @Test("a terminal that answers no question is drawn on like any other, and left at once")
  func silentTerminal() async throws {
    let folder = try TemporaryFolder()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["open", try configuration(in: folder)], width: 120, height: 40,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": folder.url.path()], answersQuestions: false)
    try await waitForPicture(terminal)
    for page in ["2", "3", "4", "5", "6", "1"] { terminal.send(page) }
    terminal.send(":get a\r")
    try await terminal.wait(forText: "✓ get a")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("in the C locale everything works as well, in ASCII", arguments: ["C", "POSIX", "no_SUCH.locale", ""])
  func locale(name: String) async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, environment: ["LANG": name, "LC_ALL": name])
    try await waitForPicture(terminal)
    terminal.send(":set \"ключ 日本\" v\r")
    try await terminal.wait(forText: "done")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.output.allSatisfy { $0 < 0x80 } == ["C", "POSIX"].contains(name))
    expectGivenBack(terminal)
  }

  /// The colours that the sequences for the looks of text set.
  private func colors(in output: [UInt8]) -> Set<Int> {
    let numbers = String(decoding: output, as: UTF8.self).split(separator: "\u{1b}[").flatMap { part -> [Int] in
      let digits = part.prefix { $0.isNumber || $0 == ";" }
      guard part[digits.endIndex...].first == "m" else { return [] }
      return digits.split(separator: ";").compactMap { Int($0) }
    }
    return Set(numbers.filter { (30...38).contains($0) || (40...48).contains($0) || (90...107).contains($0) })
  }

  @Test(
    "without colours there is none in what is written", arguments: [["--color", "never"], ["--theme", "mono"], []])
  func colourless(options: [String]) async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, more: options, environment: options.isEmpty ? ["NO_COLOR": "1"] : [:])
    try await waitForPicture(terminal)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(colors(in: terminal.output) == [])
  }

  @Test(
    "--color always has colours although NO_COLOR asks for none, and every theme draws",
    arguments: ["dark", "light", "contrast", "distinct"])
  func coloured(theme: String) async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, more: ["--color", "always", "--theme", theme], environment: ["NO_COLOR": "1"])
    try await waitForPicture(terminal)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(!colors(in: terminal.output).isEmpty)
  }

  @Test("a window of one cell is lived with, and a larger one drawn on again")
  func oneCell() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, width: 1, height: 1)
    try await terminal.wait(for: "a sign of life") { $0.screen.isAlternate && $0.screen.width == 1 }
    terminal.resize(width: 120, height: 40)
    try await waitForPicture(terminal)
    terminal.resize(width: 1, height: 1)
    try await terminal.wait(for: "one cell") { $0.screen.width == 1 }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("a storm of resizes ends in the picture of the last one")
  func resizeStorm() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, more: ["--run", "zipf --rate 500"])
    try await waitForPicture(terminal)
    for step in 0..<120 { terminal.resize(width: 1 + step * 7 % 160, height: 1 + step * 5 % 50) }
    terminal.resize(width: 100, height: 30)
    try await terminal.wait(for: "the picture of the last window") {
      $0.screen.width == 100 && $0.screen.rows[0].contains("LIVE") && $0.screen.rows.last?.contains("Quit") == true
    }
    terminal.send("q")
    try await terminal.wait(forText: "the workload zipf runs: quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("ten thousand requests a second, each with lines in the log, leave room for keys and commands")
  func flood() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder, more: ["--run", "zipf --rate 10000 --keys 5000"])
    try await waitForPicture(terminal)
    terminal.send(":log debug\r")
    try await terminal.wait(forText: "lines from debug on are shown")
    terminal.send(":set mine here\r")
    try await terminal.wait(forText: "✓ set mine here → done")
    terminal.send(":get mine\r")
    try await terminal.wait(forText: "✓ get mine → 4 B from MEMORY")
    terminal.send("?")
    try await terminal.wait(forText: "┌ Help")
    terminal.send("q")
    try await terminal.wait(for: "the picture again") { !$0.screen.contains("┌ Help") }
    terminal.send("q")
    try await terminal.wait(forText: "the workload zipf runs: quit?")
    terminal.send("n")
    try await terminal.wait(forText: "the session goes on")
    terminal.send(":stop\r")
    try await terminal.wait(forText: "the workload is stopped")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
  }

  @Test("whatever a key or a value holds, the terminal gets text")
  func hostile() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder)
    try await waitForPicture(terminal)
    let hostile = [
      #""\x1b]52;c;aGk=\x07""#, #""\x9b2J""#, #""\u{200b}\u{2066}\u{e0041}""#, #""a\nb\rc\td""#,
      #""\u{1f468}\u{200d}\u{1f469}""#,
      #""e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}""#, #""\0\x7f""#,
    ]
    for (number, key) in hostile.enumerated() {
      terminal.send(":set \(key) \(key)\r")
      try await terminal.wait(for: "answer \(number)") { $0.screen.rows[38].contains("done") }
      terminal.send(":get \(key)\r")
      try await terminal.wait(for: "value \(number)") { $0.screen.rows[38].contains("from MEMORY") }
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    expectGivenBack(terminal)
    #expect(terminal.sight.unknown == [])
    let output = terminal.output
    #expect(!output.contains(Array("\u{1b}]52".utf8)))
    #expect(
      !String(decoding: output, as: UTF8.self).unicodeScalars.contains {
        ["\u{9b}", "\u{200b}", "\u{2066}"].contains($0)
      })
  }

  @Test("the command line suggests, searches and remembers from one session to the next")
  func remembers() async throws {
    let folder = try TemporaryFolder()
    let first = try open(in: folder)
    try await waitForPicture(first)
    for line in ["get remembered", "set secret value"] {
      first.send(":\(line)\r")
      try await first.wait(forText: "✓ \(line) → ")
    }
    first.send("q")
    #expect(try await first.ending() == .exited(0))

    let second = try open(in: folder)
    try await waitForPicture(second)
    second.send(":ge")
    try await second.wait(for: "a suggestion") { $0.screen.rows[37].hasPrefix(" :get remembered") }
    second.sendControl("u")
    second.sendControl("r")
    second.send("rememb")
    try await second.wait(for: "what was found") { $0.screen.rows[37].contains("‘rememb’ :get remembered") }
    second.send(.enter)
    try await second.wait(forText: "✓ get remembered → ")
    second.send(":set ")
    try await second.wait(for: "the line") { $0.screen.rows[37].hasPrefix(" :set") }
    #expect(!second.sight.screen.contains("secret"))
    second.send(.escape)
    try await second.wait(for: "the line to be left") { $0.screen.rows[37].hasPrefix(" : types") }
    second.send("q")
    #expect(try await second.ending() == .exited(0))
  }

  @Test("a fault is shown at its level and in the log, a demonstration says what to look at")
  func faultsAndCaptions() async throws {
    let folder = try TemporaryFolder()
    let terminal = try open(in: folder)
    try await waitForPicture(terminal)
    terminal.send(":fault second error 5%\r")
    try await terminal.wait(for: "the fault in the box and in the log") {
      $0.screen.rows.contains { $0.contains("SECOND") && $0.contains("✕ error 5%") }
        && $0.screen.rows.contains { $0.contains("explorer") && $0.contains("fault second: error 5%") }
    }
    terminal.send(":fault second off\r")
    try await terminal.wait(for: "no fault") { !$0.screen.rows.contains { $0.contains("SECOND") && $0.contains("✕") } }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))

    let demo = try PseudoTerminal(
      Program.path, arguments: ["demo", "faults"], width: 120, height: 40,
      environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": folder.url.path()])
    try await demo.wait(forText: "▸ All is well: memory, disk and origin share the work")
    demo.send("q")
    try await demo.wait(forText: "runs: quit?")
    demo.send("y")
    #expect(try await demo.ending() == .exited(0))
  }
}
