import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

/// What the explorer does where a key or a command asks for more than another picture.
extension Explorer {
  func carryOut(_ effect: Effect) {
    switch effect {
    case .quit: exitStatus = 0
    case .redraw: screen.invalidate()
    case .keepArrangement(let arrangement):
      if let problem = panels?.keep(arrangement) { announce(problem, level: .warning) }
    case .mouse(let isOn): screen.useMouse(isOn)
    case .theme(let theme): screen.use(theme)
    case .copy(let text): screen.copy(text)
    case .copyValue(let key, let level): answer("copy") { try await self.copyValue(key, level) }
    case .find(let text): errands.begin { await self.find(text) }
    case .suspend: screen.suspend()
    case .interrupt: commands.cancel()
    case .refreshUsage: tellUsage()
    case .refreshEntries: surveySoon()
    case .refreshWhatIf:
      errands.begin {
        let live = self.live
        self.mailbox.post(.whatIf(await Self.reports(live.whatIf), unseen: live.unseen()))
      }
    case .readValue(let key, let level): errands.begin { await self.readValue(key, level) }
    case .readVariants(let key):
      errands.begin { self.mailbox.post(.variants(key: key, await self.live.http?.variants(key) ?? [])) }
    case .chooseApp(let app): choose?(app)
    case .reload: errands.begin { await self.reload() }
    case .applyReload: errands.begin { await self.applyReload() }
    case .perform(let asked): start(Verbs.verb(for: asked), line: asked.summary)
    case .listFiles(let word):
      errands.begin { self.mailbox.post(.files(beginning: word, await FileNames.beginning(with: word))) }
    case .run(let line):
      do {
        history?.append(line)
        if let verb = try Verbs.parse(line) { start(verb, line: line) }
      } catch {
        mailbox.post(.rejected(line: line, reason: error.description, column: error.column))
      }
    }
  }

  func start(_ verb: any Verb, line: String) {
    if let refusal = verb.output.flatMap(refusal(toWrite:)) {
      return answer(verb.name, line: line) { throw CommandFailure(message: refusal) }
    }
    if let request = verb.request, carryOut(request, line: line) == .whole { return }
    let mask = model.isMasked ? model.mask : nil
    commands.begin {
      var result = await Self.carryOut(verb, by: self.interpreter, mask)
      // The screen shows the rest.
      if verb.isShownOnScreen { result.note = result.note.map { String($0.prefix { $0 != "\n" }) } }
      self.told(verb, result)
      self.mailbox.post(.undoable(self.interpreter.undoable))
      self.mailbox.post(.finished(result, line: line))
      self.tellUsage()
    }
  }

  func refusal(toWrite file: String) -> String? {
    if screen.sharesInput { return "both caches would write \(file); choose one with F2 or F3" }
    if let recorder, FoundFile.areSame(file, recorder.path) {
      return "the session is being recorded into \(recorder.path); name another file"
    }
    return interpreter.refusal(toWrite: file)
  }

  private func tellUsage() {
    mailbox.post(.usage(live.usage))
    let shared = live.shared
    if !shared.isEmpty { mailbox.post(.shared(shared)) }
    let owners = live.owners
    if !owners.isEmpty { mailbox.post(.owners(owners)) }
  }

  /// Elsewhere: on the main actor each step of a command would wait until another batch of events is folded in and drawn.
  @concurrent
  private nonisolated static func carryOut(
    _ verb: any Verb, by interpreter: Interpreter, _ mask: KeyMask?
  ) async -> CommandResult {
    await interpreter.run(verb, mask: mask)
  }

  /// How much of a command the screen has done.
  private enum Share { case part, whole }

  /// Does what a command asks of the screen.
  @discardableResult
  private func carryOut(_ request: ScreenRequest, line: String) -> Share {
    switch request {
    case .show(let message): mailbox.post(message)
    case .tell(let message):
      mailbox.post(message)
      let verb = String(line.drop { $0 == " " }.prefix { $0 != " " })
      mailbox.post(.finished(CommandResult(command: verb, outcome: .ok, microseconds: 0), line: line))
      return .whole
    case .announce(let text, let level): announce(text, level: level)
    case .start(let workload): start(RunVerb(workload), line: "")
    case .leave: exitStatus = 0
    case .record(let file?, let limit):
      answer("record", line: line) { try self.beginRecording(file, limit: limit) }
      return .whole
    case .record(nil, _):
      answer("record", line: line) { try await self.endRecording() }
      return .whole
    case .replay(let file, let speed):
      answer("replay", line: line) { try await self.beginReplay(file, speed: speed) }
      return .whole
    case .exportRecording(let file):
      answer("export", line: line) { try await self.exportRecording(to: file) }
      return .whole
    case .exportView(let file):
      let model = model
      answer("export", line: line) { try await Self.export(model, to: file) }
      return .whole
    }
    return .part
  }

  /// Does what only the screen can, and answers as a command does.
  ///
  /// `line`: As it was typed; `nil` if nobody did.
  func answer(_ verb: String, line: String? = nil, _ work: @escaping @MainActor () async throws -> String) {
    errands.begin {
      var result = CommandResult(command: verb, outcome: .ok, microseconds: 0)
      do { result.note = try await work() } catch {
        (result.outcome, result.error) = (.error, String(describing: error))
      }
      self.mailbox.post(.finished(result, line: line))
    }
  }

  /// What a command changed that no event tells.
  func told(_ verb: any Verb, _ result: CommandResult) {
    guard result.outcome == .ok || result.hasStartedOver else { return }
    for news in verb.news(of: result, in: interpreter) { carryOut(news, line: "") }
  }
}
