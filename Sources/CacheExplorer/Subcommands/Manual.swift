#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerText

/// The manual: made of the tables that the program itself works by, so that it cannot tell anything else.
enum Manual {
  enum Format: String, CaseIterable, Sendable { case roff, markdown }

  private enum Part {
    case section(String)
    case text(String)
    /// What is defined, and what it means.
    case item(String, String)
    case verbatim(String)
  }

  static func text(_ format: Format) -> String {
    switch format {
    case .roff: roff
    case .markdown: markdown
    }
  }

  private static var parts: [Part] {
    var parts: [Part] = [
      .section("NAME"), .text("cache-explorer - shows what a composed cache is doing, and lets you experiment with it"),
      .section("SYNOPSIS"),
    ]
    let commands = CacheExplorer.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    parts.append(.verbatim(commands.map { usage(of: $0) }.joined(separator: "\n")))
    parts.append(.section("DESCRIPTION"))
    parts.append(
      .text(
        "A cache is built from a configuration and driven by typed commands, a workload, a script or a trace. "
          + "The screen shows which level served what, why a key missed, who waited for whom, and what a memory warning "
          + "cost. Without a subcommand, the demonstration opens. Without a screen, everything is described in sentences, "
          + "as with --plain."))
    parts.append(.section("COMMANDS"))
    parts.append(.text("Where an option is given twice, what is given last counts, unless it is repeatable."))
    for command in commands {
      parts.append(.item(command.configuration.commandName ?? "", command.configuration.abstract))
      parts.append(.verbatim(CacheExplorer.helpMessage(for: command, columns: 78)))
    }
    parts.append(.section("COMMAND LINE"))
    parts.append(.text("Typed after a colon, one per line in scripts, and on standard input with --plain:"))
    parts += Grammar.commandLine.verbs.map { .item($0.usage, $0.line) }
    parts.append(.section("EXPECTATIONS"))
    parts.append(
      .text(
        "A figure, a comparison (>= <= > < == !=) and a value: memory.hit >= 80%, origin.requests <= 120, p99 < 5ms. A "
          + "figure of a level or an operator is prefixed with its name; without one it is that of the whole cache. A figure "
          + "that was not measured, since nothing was asked, fails. Latencies are by the cache's clock. The figures:"))
    parts += ExpectedFigure.all.map { .item($0.name, $0.line) }
    parts.append(.section("WORKLOADS"))
    parts += WorkloadTable.all.map { .item($0.name, $0.line) }
    parts.append(.section("KEYS"))
    for scope in KeyTable.Scope.allCases {
      parts.append(.text("\(scope.rawValue):"))
      parts += KeyTable.bindings.filter { $0.scope == scope }.map { .item($0.name, $0.does) }
    }
    parts.append(.section("DEMONSTRATIONS"))
    parts += Demo.all.map { .item($0.name, $0.caption) }
    parts.append(.item(FleetDemo.name, FleetDemo.caption))
    parts.append(.section("CONFIGURATION"))
    parts.append(
      .text(
        "YAML or JSON: the levels from the top down. Kinds of levels and operators: "
          + ConfigurationReader.kinds.joined(separator: ", ") + "."))
    parts.append(
      .verbatim(
        """
        levels:
          - memory: { capacity: 2 MiB, policy: lru, expiry: 30s }
          - disk:   { directory: ./cache, capacity: 20 MiB, expiry: 10m }
          - pooled:
              network: { url: "http://127.0.0.1:8089/{key}", timeout: 5s }
        workload: { name: zipf, rate: 20 }
        """))
    parts.append(.section("TRACES"))
    parts.append(
      .text(
        "One request per line: KEY, or KEY, a tab and SIZE. Lines that begin with # are comments. Access logs, JSON "
          + "lines and public trace formats are recognised as well, and so is compression with gzip, zstd and xz; - is "
          + "standard input."))
    parts.append(.section("RECORDINGS"))
    parts.append(.text(recordings))
    parts.append(.section("EXIT STATUS"))
    parts += ExitStatus.all.map { .item($0.status, $0.meaning) }
    parts.append(.section("ENVIRONMENT"))
    parts += [
      .item("TERM", "the kind of terminal; unset, or one that cannot place its cursor, implies --plain"),
      .item("LANG, LC_ALL", "the language of characters; where there is no UTF-8 locale at all, ASCII is drawn"),
      .item("NO_COLOR", "if not empty: no colours, unless --color always asks for them"),
      .item("COLUMNS, LINES", "the size of the picture of open --once"),
      .item("XDG_STATE_HOME", "where the files below are kept; else in ~/.local/state"),
    ]
    parts.append(.section("FILES"))
    parts.append(.text("In $XDG_STATE_HOME/cache-explorer; cache-explorer --paths says where that is:"))
    parts += [
      .item(
        "history",
        "the last \(CommandHistory.most) command lines that were understood, for their owner only; a set is kept only if "
          + "its value came from a file, since values may be secret"),
      .item("panels.json", "which panels of the overview are hidden, and the order of the others"),
      .item("greeted", "there after the first start, which says where to begin"),
      .item("crashes", "a report of each crash"),
    ]
    return parts
  }

  private static let recordings = """
    A line of JSON for everything that happened, with its time, and for every picture. It holds keys, what was typed and \
    could be recalled, and the values that were looked at; only its owner may read it. With --mask keys have other names in \
    it, and values, what was typed, answers and the words of errors are left out. It grows to \
    \(RecordingFormat.usualLimitText) unless --record-limit says otherwise; then it ends, as the screen, the \
    log and its last line say. Events that come faster than they can be written are left out and counted; the cache never \
    waits. After a crash, it can be shown up to where it broke off. A recording that the command record begins counts from there.
    """

  private static func usage(of command: any ParsableCommand.Type) -> String {
    let help = CacheExplorer.usageString(for: command)
    return String(help.drop { $0 == " " }).replacing("Usage: ", with: "")
  }

  private static var roff: String {
    let version = ProgramVersion.text
    var lines = [".TH CACHE-EXPLORER 1 \"\" \"cache-explorer \(version)\" \"CacheEngine\""]
    for part in parts {
      switch part {
      case .section(let name): lines.append(".SH \"\(name)\"")
      case .text(let text): lines += [".PP", escaped(text)]
      case .item(let name, let text): lines += [".TP", "\\fB\(escaped(name))\\fR", escaped(text)]
      case .verbatim(let text):
        lines += [".PP", ".nf"]
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
        lines.append(".fi")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// What roff would take for its own.
  private static func escaped(_ text: String) -> String {
    var escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    if escaped.first == "." || escaped.first == "'" { escaped = "\\&" + escaped }
    return escaped
  }

  private static var markdown: String {
    parts.map { part in
      switch part {
      case .section(let name): "\n## \(name.prefix(1))\(name.dropFirst().lowercased())\n"
      case .text(let text): "\(text)\n"
      case .item(let name, let text): "- `\(name)`: \(text)"
      case .verbatim(let text): "\n```\n\(text)\n```\n"
      }
    }
    .joined(separator: "\n")
  }
}
#endif
