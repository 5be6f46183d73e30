#if Explorer
import ArgumentParser
import ExplorerModel
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// When colours are used.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable { case auto, always, never }

/// How the screen looks, and what may be done on it.
struct ScreenOptions: ParsableArguments, Sendable {
  @Flag(help: "No screen: a sentence for everything that happens, and commands line by line.") var plain = false
  @Flag(help: "Insist on a screen: exit with status 4 if there can be none.") var screen = false
  @Flag(name: .customLong("ascii"), help: "Draw with ASCII characters only, as if LC_ALL were C or POSIX.")
  var asksForASCII = false
  @Option(help: .taking("when", "When to use colours: auto (as NO_COLOR and the terminal say), always or never."))
  var color = ColorChoice.auto
  @Option(help: "The colours: standard, dark, light, contrast, distinct or mono.") var theme = Theme.standard
  @Option(
    help: .taking("screen", "The screen to show first, and to print with --once: \(ScreenOptions.pages)."),
    completion: .list(Page.allCases.map(\.word)), transform: ScreenOptions.page)
  var page: Page?
  @Flag(help: "Refuse commands and keys that change the cache; reads still fill its levels.") var readOnly = false
  @Flag(help: "Hide values, and show other names instead of keys; P shows them.") var mask = false
  @Flag(help: "No movement between the levels on the screen; only figures change.") var noAnimation = false
  @Flag(help: "Let y and Y copy into the terminal's clipboard (OSC 52).") var clipboard = false

  private static let pages = Page.allCases.map(\.word).joined(separator: ", ")

  private static func page(_ text: String) throws -> Page {
    guard let page = Page(word: text) else { throw ValidationError("there is no screen “\(text)”; use \(pages)") }
    return page
  }

  func validate() throws {
    if plain, screen { throw ValidationError("--plain and --screen exclude each other; leave one out") }
  }

  /// Whether ASCII is asked for, or is what the locale has.
  var ascii: Bool {
    asksForASCII || ["C", "POSIX"].contains(ProcessInfo.processInfo.environment["LC_ALL"] ?? "")
  }

  /// Other names for keys, if they are to be hidden: none that anybody could look up, and others at each reading.
  var keyMask: KeyMask? { mask ? KeyMask(salt: .random(in: .min ... .max)) : nil }

  /// What a model is told before its first picture.
  func apply(to model: inout Model) {
    model.isReadOnly = readOnly
    model.isMasked = mask
    // `P` hides keys that were shown at first.
    model.mask = KeyMask(salt: .random(in: .min ... .max))
    model.theme = theme
    model.canCopy = clipboard
    model.isAnimated = !noAnimation
    if let page { model.begin(on: page) }
  }

  /// How large a picture is where there is no terminal: COLUMNS and LINES, else 120x40.
  static func size(_ environment: [String: String]) -> Size {
    func number(_ name: String, _ usual: Int) -> Int {
      environment[name].flatMap(Int.init).flatMap { $0 > 0 ? min($0, 1_000) : nil } ?? usual
    }
    return Size(width: number("COLUMNS", 120), height: number("LINES", 40))
  }
}
#endif
