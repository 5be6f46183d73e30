import CacheEngineTesting
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

struct CommandParserTests {
  @Test("Time, faults and workloads are written with their units")
  func quantities() throws {
    #expect(try parsed("advance 1.5m") == AdvanceVerb(.seconds(90)))
    #expect(try parsed("speed 0.25") == SpeedVerb(0.25))
    #expect(try parsed("speed ×4") == SpeedVerb(4))
    #expect(try parsed("warn critical") == WarnVerb())
    #expect(try parsed("fault disk error 5%") == FaultVerb(level: "disk", .errors(0.05), seed: nil))
    #expect(
      try parsed("fault disk latency 10ms..20ms --seed 9")
        == FaultVerb(level: "disk", .latency(.milliseconds(10) ... .milliseconds(20)), seed: 9))
    #expect(try parsed("fault disk down") == FaultVerb(level: "disk", .down, seed: nil))
    #expect(try parsed("fault disk off") == FaultVerb(level: "disk", .off, seed: nil))
    #expect(
      try parsed("run zipf --rate max --skew 1.2") == RunVerb(WorkloadRequest(name: "zipf", rate: .infinity, skew: 1.2))
    )
    #expect(
      try parsed("run trace --file 'a b.gz'") == RunVerb(WorkloadRequest(name: "trace", file: "a b.gz")))
  }

  @Test(
    "What is wrong with a line can be read, however long the word is",
    arguments: ["", "get a --", "set a b --ttl ", "run ", "export ", "help ", "log "])
  func longWords(line: String) throws {
    let error = #expect(throws: CommandError.self) {
      _ = try Verbs.parse(line + String(repeating: "x", count: 1_000_000))
    }
    #expect(error.map { $0.description.utf8.count < 1_000 } == true)
    #expect(CommandFailure(message: String(repeating: "x", count: 1_000_000)).message.utf8.count < 1_000)
  }

  @Test("The mark with which some editors begin a file belongs to no word")
  func byteOrderMark() throws {
    #expect(try parsed("\u{feff}speed 4") == SpeedVerb(4))
    #expect(try CommandLexer.words(of: "\u{feff}# a comment").isEmpty)
  }

  @Test("What concerns the log, the list and files is a verb with the rest of the line, or with a word")
  func rest() throws {
    #expect(try parsed("mark the  deploy began") == MarkVerb(text: "the deploy began"))
    #expect(try parsed("filter user: 4") == FilterVerb(text: "user: 4"))
    #expect(try parsed("filter") == FilterVerb(text: ""))
    #expect(try parsed("sort ttl") == SortVerb(column: "ttl"))
    #expect(try parsed("load 'my config.yaml'") == LoadVerb(file: "my config.yaml"))
    #expect(try parsed("reload") == ReloadVerb())
    #expect(try parsed("export out/all.csv") == ExportVerb(file: "out/all.csv"))
    #expect(try parsed("status") == StatusVerb())
  }

  @Test("A line becomes exactly the command that it says", arguments: goodLines)
  func good(line: GoodLine) throws {
    let verb = try Verbs.parse(line.text)
    guard let expected = line.verb else { return #expect(verb == nil) }
    #expect(verb.map { expected.isEqual(to: $0) } == true, "\(String(describing: verb))")
  }

  @Test("What is wrong with a line is told with its column and a remedy", arguments: badLines)
  func bad(line: BadLine) {
    do {
      let command = try Verbs.parse(line.text)
      Issue.record("it was understood as \(String(describing: command))")
    } catch {
      #expect(error.column == line.column)
      #expect(error.description == line.description)
    }
  }

  @Test("No line makes the parser crash, and every fault lies in the line", arguments: 0..<20 as Range<UInt64>)
  func fuzz(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pieces =
      Grammar.commandLine.names + WorkloadTable.names
      + [
        " ", " ", " ", "\t", "\n", "\r\n", "'", "\"", "\\", "\\n", "\\x", "\\x4", "\\x41", "\\u", "\\u{", "\\u{e9}",
        "\\u{110000}", "\\u{d800}", "--", "--level", "--ttl", "--rate", "--requests", "--keys", "--key", "--all", "#",
        "@f", "é", "e\u{301}", "👩‍👩‍👧", "\u{200d}", "\0", "\u{1b}", "nan", "1e309", "-1", "30s", "99999999999999999999",
      ]
    for _ in 0..<2_000 {
      var line = ""
      for _ in 0..<Int.random(in: 0..<12, using: &generator) {
        line += pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        if Bool.random(using: &generator) { line += " " }
      }
      do {
        _ = try Verbs.parse(line)
      } catch {
        #expect((0...line.count).contains(error.column), "\(line.debugDescription)")
        #expect(!error.message.isEmpty && !error.remedy.isEmpty, "\(line.debugDescription)")
      }
    }
  }

  @Test("A filter that says nothing is refused where it is wrong")
  func badFilters() throws {
    let cases = [("filter size:>foo", 7), ("filter \"user level:disk ttl:<x\"", 24), ("filter hits:>many", 7)]
    for (line, column) in cases {
      let error = #expect(throws: CommandError.self, "\(line)") { try Verbs.parse(line) }
      #expect(error?.column == column, "\(line): \(String(describing: error))")
    }
    #expect(try parsed("filter size:>1M") == FilterVerb(text: "size:>1M"))
  }
}

/// A line as the verb that is expected of it.
private func parsed<Expected: Verb>(_ line: String) throws -> Expected? { try Verbs.parse(line) as? Expected }

struct GoodLine: Sendable, CustomTestStringConvertible {
  var text: String
  var verb: (any Verb)?

  init(_ text: String, _ verb: (any Verb)?) {
    self.text = text
    self.verb = verb
  }

  var testDescription: String { text.debugDescription }
}

struct BadLine: Sendable, CustomTestStringConvertible {
  var text: String
  var column: Int
  var description: String

  init(_ text: String, _ column: Int, _ description: String) {
    self.text = text
    self.column = column
    self.description = description
  }

  var testDescription: String { text.debugDescription }
}

private func set(
  _ key: String, _ value: SetVerb.Source, timeToLive: Duration? = nil, level: String? = nil
) -> SetVerb {
  SetVerb(key: key, value: value, timeToLive: timeToLive, level: level)
}

private let goodLines = [
  GoodLine("", nil),
  GoodLine("  \t ", nil),
  GoodLine("# get a", nil),
  GoodLine("get a", GetVerb(key: "a", level: nil)),
  GoodLine("  get   a  # the key", GetVerb(key: "a", level: nil)),
  GoodLine("get a#b", GetVerb(key: "a#b", level: nil)),
  GoodLine("get '#'", GetVerb(key: "#", level: nil)),
  GoodLine("get a --level disk", GetVerb(key: "a", level: "disk")),
  GoodLine("get --level disk a", GetVerb(key: "a", level: "disk")),
  GoodLine("get 'a b'", GetVerb(key: "a b", level: nil)),
  GoodLine("get \"a b\"", GetVerb(key: "a b", level: nil)),
  GoodLine("get a\\ b", GetVerb(key: "a b", level: nil)),
  GoodLine("get a' 'b\" \"c", GetVerb(key: "a b c", level: nil)),
  GoodLine("get ''", GetVerb(key: "", level: nil)),
  GoodLine("get 'a\\n'", GetVerb(key: "a\\n", level: nil)),
  GoodLine("get 'say \"x\"'", GetVerb(key: "say \"x\"", level: nil)),
  GoodLine("get \"it's\"", GetVerb(key: "it's", level: nil)),
  GoodLine(#"get "\n\t\r\0\e\\\"\'\x41\u{e9}""#, GetVerb(key: "\n\t\r\0\u{1b}\\\"'A\u{e9}", level: nil)),
  GoodLine(#"get \x1b[2J"#, GetVerb(key: "\u{1b}[2J", level: nil)),
  GoodLine("get -- --level", GetVerb(key: "--level", level: nil)),
  GoodLine("get -- --", GetVerb(key: "--", level: nil)),
  GoodLine("get '--level'", GetVerb(key: "--level", level: nil)),
  GoodLine("get -x", GetVerb(key: "-x", level: nil)),
  GoodLine("get é👩‍👩‍👧", GetVerb(key: "é👩‍👩‍👧", level: nil)),
  GoodLine("set a b", set("a", .text("b"))),
  GoodLine("set a ''", set("a", .text(""))),
  GoodLine("set a @value.bin", set("a", .file("value.bin"))),
  GoodLine("set a '@value.bin'", set("a", .text("@value.bin"))),
  GoodLine("set a \\@value.bin", set("a", .text("@value.bin"))),
  GoodLine("set @a b", set("@a", .text("b"))),
  GoodLine("set a b --ttl 30s", set("a", .text("b"), timeToLive: .seconds(30))),
  GoodLine("set a b --ttl '1.5 h' --level memory", set("a", .text("b"), timeToLive: .seconds(5_400), level: "memory")),
  GoodLine("set a -- --ttl", set("a", .text("--ttl"))),
  GoodLine("del a", DeleteVerb(key: "a")),
  GoodLine("clear", ClearVerb(level: nil)),
  GoodLine("clear --all", ClearVerb(level: nil)),
  GoodLine("clear disk", ClearVerb(level: "disk")),
  GoodLine("clear -- --all", ClearVerb(level: "--all")),
  GoodLine("expire a", ExpireVerb(key: "a")),
  GoodLine("expire --all", ExpireVerb(key: nil)),
  GoodLine("warn", WarnVerb()),
  GoodLine("run zipf", RunVerb(WorkloadRequest(name: "zipf"))),
  GoodLine(
    "run burst --rate 2.5 --requests 100 --seed 9 --key 'a b'",
    RunVerb(WorkloadRequest(name: "burst", rate: 2.5, requests: 100, seed: 9, key: "a b"))),
  GoodLine(
    "run zipf --rate 1_000 --requests 20_000", RunVerb(WorkloadRequest(name: "zipf", rate: 1_000, requests: 20_000))),
  GoodLine("set a '@'", set("a", .text("@"))),
  GoodLine("stop", StopVerb()),
  GoodLine("log debug", LogVerb(level: "debug")),
  GoodLine("sort TTL", SortVerb(column: "ttl")),
  GoodLine("stats", StatsVerb()),
  GoodLine("help", HelpVerb(verb: nil)),
  GoodLine("help get", HelpVerb(verb: "get")),
  GoodLine("quit", QuitVerb()),
]

private let badLines = [
  BadLine("gte a", 0, "there is no verb “gte”; did you mean “get”?"),
  BadLine("Remove a", 0, "there is no verb “Remove”; did you mean “del”?"),
  BadLine("help exit", 5, "there is no verb “exit”; did you mean “quit”?"),
  BadLine(
    "  elephant", 2,
    "there is no verb “elephant”; use one of \(Grammar.commandLine.names.joined(separator: ", "))"),
  BadLine("get", 3, "get needs more; write get KEY [--level L]"),
  BadLine("set a", 5, "set needs more; write set KEY VALUE|@FILE [--ttl 30s] [--level L]"),
  BadLine(
    "get a b", 6, "“b” is one word too many; write get KEY [--level L], with quotes round what holds spaces"),
  BadLine("set a b --ttl 0s", 14, "--ttl: a time limit of nothing; give more than 0"),
  BadLine("warn now", 5, "there is no severity “now”; did you mean “low”?"),
  BadLine("stop now", 5, "“now” is one word too many; write stop, with quotes round what holds spaces"),
  BadLine("advance 60", 8, "“60” has no unit; use us, ms, s, m, h or d"),
  BadLine("advance 0s", 8, "a time limit of nothing; give more than 0"),
  BadLine("speed fast", 6, "“fast” is not a speed; write a number from 0.001 to 1000, such as 0.25"),
  BadLine("fault disk", 10, "fault needs more; write fault L error 5%|latency 200ms|slow|down|deaf|off [--seed S]"),
  BadLine("fault disk teapot", 11, "there is no fault “teapot”; use one of error, latency, slow, down, deaf, off"),
  BadLine(
    "fault disk error", 16,
    "fault needs more; write error 5%, as in fault L error 5%|latency 200ms|slow|down|deaf|off [--seed S]"),
  BadLine("fault disk error 120%", 17, "120% is more than everything; give at most 100%"),
  BadLine("fault disk down now", 16, "“now” is one word too many; write fault disk down"),
  BadLine("run trace", 9, "run trace needs a file; write run trace --file FILE"),
  BadLine(
    "run zipf --skew -1", 16, "--skew: “-1” is not a skew; write a number from 0 (uniform) to 10, such as 0.99"),
  BadLine("sort colour", 5, "there is no column “colour”; use one of hits, last, size, age, ttl, levels, key"),
  BadLine("export all.xml", 7, "“all.xml” does not say in which format; end it with .json, .csv, .txt, .svg or .cast"),
  BadLine("get a --levle disk", 6, "get has no option --levle; did you mean “--level”?"),
  BadLine("load ''", 5, "the name of the file is empty; write load CONFIG"),
  BadLine("record ''", 7, "the name of the file is empty; write record FILE|off [--limit 256MiB]"),
  BadLine(
    "run trace --file ''", 17,
    "the name of the file is empty; write run WORKLOAD [--rate N|max] [--requests N] [--seed S] [--keys N] [--key K] "
      + "[--skew X] [--file F]"),
  BadLine("set a @", 6, "there is no name of a file behind @; write one, or '@' for that value"),
  BadLine("warn --all", 5, "warn has no option --all; write -- before a word that begins with --"),
  BadLine("get a --level", 13, "--level needs a value; write --level L"),
  BadLine("get a --level x --level y", 16, "--level is given twice; give it once"),
  BadLine("set a b --ttl 30", 14, "--ttl: “30” has no unit; use us, ms, s, m, h or d"),
  BadLine("set a b --ttl -1s", 14, "--ttl: -1s is negative; write a duration such as 250ms, 30s, 10m or 2h"),
  BadLine("get 'a b", 4, "a quote is not closed; end it with '"),
  BadLine("get x\"a b", 5, "a quote is not closed; end it with \""),
  BadLine("get a\\", 5, "a backslash ends the line; write \\\\ for a backslash"),
  BadLine("get \\q", 4, "there is no escape \\q; write \\\\q for a backslash and a letter"),
  BadLine("get \\x4", 4, "\\x needs two hexadecimal digits; write \\x1b"),
  BadLine("get \\xzz", 4, "\\x needs two hexadecimal digits; write \\x1b"),
  BadLine("get \\x+1", 4, "\\x needs two hexadecimal digits; write \\x1b"),
  BadLine("get \\u{d800}", 4, "\\u needs a code point in braces; write \\u{e9}"),
  BadLine("get \\u{+e9}", 4, "\\u needs a code point in braces; write \\u{e9}"),
  BadLine("get \\u{110000}", 4, "\\u needs a code point in braces; write \\u{e9}"),
  BadLine("get \\u41", 4, "\\u needs a code point in braces; write \\u{e9}"),
  BadLine("get \\u{41", 4, "\\u needs a code point in braces; write \\u{e9}"),
  BadLine("clear disk --all", 11, "--all stands alone; leave out “disk”"),
  BadLine("expire", 6, "expire needs more; write expire KEY|--all"),
  BadLine("log loud", 4, "there is no log level “loud”; use one of trace, debug, info, notice, warning, error"),
  BadLine("log waring", 4, "there is no log level “waring”; did you mean “warning”?"),
  BadLine("help gte", 5, "there is no verb “gte”; did you mean “get”?"),
  BadLine(
    "run", 3,
    "run needs more; write run WORKLOAD [--rate N|max] [--requests N] [--seed S] [--keys N] [--key K] [--skew X] [--file F]"
  ),
  BadLine(
    "run zipf --file t.txt", 16, "--file: zipf does not use it; leave it out; it is for trace"),
  BadLine(
    "run scan --keys 3", 16, "--keys: scan does not use it; leave it out; it is for zipf, uniform, loop, mixed"),
  BadLine("run loop --skew 1", 16, "--skew: loop does not use it; leave it out; it is for zipf, mixed"),
  BadLine(
    "run trace --key a --file t", 16,
    "--key: trace does not use it; leave it out; it is for zipf, uniform, scan, loop, burst, mixed"),
  BadLine("run zipd", 4, "there is no workload “zipd”; did you mean “zipf”?"),
  BadLine("run zipf --rate nan", 16, "--rate: “nan” is not a rate; write requests a second, such as 100, or max"),
  BadLine("run zipf --rate 0", 16, "--rate: “0” is not a rate; write requests a second, such as 100, or max"),
  BadLine(
    "run zipf --requests 0", 20,
    "--requests: “0” is not a whole number from 1 to 1000000000; write --requests 100"),
  BadLine("run zipf --keys x", 16, "--keys: “x” is not a whole number from 1 to 10000000; write --keys 100"),
  BadLine(
    "get é👩‍👩‍👧 too", 7, "“too” is one word too many; write get KEY [--level L], with quotes round what holds spaces"),
]
