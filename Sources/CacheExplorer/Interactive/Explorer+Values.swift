import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

extension Explorer {
  func index(of level: LiveCache.Level) -> Int { model.live.index(ofLevel: level.name) ?? 0 }

  /// Has the levels list what they hold: what was there before the program, and what events cannot tell.
  func surveySoon() {
    isSurveyDue = true
    guard !isSurveying else { return }
    isSurveying = true
    errands.begin { await self.survey() }
  }

  /// Lists what the levels hold, and again for whoever asks meanwhile, once a while has passed.
  private func survey() async {
    repeat {
      isSurveyDue = false
      await list(live)
      try? await ContinuousClock().sleep(for: surveyPause, tolerance: .milliseconds(200))
    } while isSurveyDue && !Task.isCancelled
    isSurveying = false
  }

  private func list(_ surveyed: LiveCache) async {
    var unlisted: [String: Int] = [:]
    for level in surveyed.levels {
      guard let storage = level.storage else { continue }
      guard storage.usage.count <= Self.surveyLimit else {
        unlisted[level.name] = max(0, storage.usage.count - model.live.entries.count(level: index(of: level)))
        continue
      }
      // A level that cannot be listed says so by itself when it is used.
      let contents = try? await level.contents()
      // The levels of another cache may have the same names.
      guard live.statistics === surveyed.statistics else { return }
      if let contents { mailbox.post(.snapshot(level: level.name, contents)) }
    }
    mailbox.post(.unlisted(unlisted))
  }

  /// Looks for keys in the levels that have too many to be listed.
  func find(_ text: String) async {
    let search = TextSearch(text, canInvert: false)
    for level in live.levels {
      // A level that cannot be listed says so by itself when it is used.
      guard let storage = level.storage, storage.usage.count > Self.surveyLimit,
        let found = try? await storage.entries(atMost: Self.mostFound, where: { search.matches($0) })
      else { continue }
      mailbox.post(.found(level: level.name, level.listed(found)))
    }
  }

  func copyValue(_ key: String, _ name: String?) async throws -> String {
    let text = try await valueAsText(key, name)
    screen.copy(text)
    return "copied \(Format.bytes(text.utf8.count))"
  }

  /// A value that can be pasted without harm: text without control characters but line ends and tabs.
  private func valueAsText(_ key: String, _ name: String?) async throws -> String {
    for level in live.holders(from: name) {
      guard let (value, count) = try await level.beginning(of: key, atMost: Terminal.mostCopied) else { continue }
      guard value.count == count else {
        throw CommandFailure(
          message: "the value has \(Format.bytes(count)); a clipboard takes \(Format.bytes(Terminal.mostCopied))")
      }
      guard let text = String(validating: value, as: UTF8.self) else {
        throw CommandFailure(message: "the value is not text; v shows its bytes")
      }
      let lines = text.lines.map { line in
        line.split(separator: "\t", omittingEmptySubsequences: false).map { harmless(String($0)) }.joined(
          separator: "\t")
      }
      return lines.joined(separator: "\n")
    }
    throw CommandFailure(message: "no level holds the value any more")
  }

  static func export(_ model: Model, to file: String) async throws -> String {
    guard let format = ExportFormat(file: file), let export = ViewExport(model, as: format) else {
      throw CommandFailure(message: "this panel has no rows to write; end the name with .txt for the picture")
    }
    let target = NamedFile.target(file)
    try await Export.write(export.text, to: file)
    return "\(export.summary) written to \(target)"
  }

  /// What was noted is worked through where nobody draws.
  @concurrent
  static func reports(_ whatIf: HitRatioObserver) async -> [HitRatioReport] { whatIf.reports }

  /// Reads a value where it lies, past counters and observers: to look changes no figure.
  func readValue(_ key: String, _ name: String?) async {
    mailbox.post(.value(await live.sight(of: key, from: name)))
  }

  func reload() async {
    let opened = interpreter.current
    if let refusal = opened.live.refusal(.configuration) { return mailbox.post(.finished(Self.failure(refusal))) }
    guard opened.isFile, let current = opened.configuration else {
      return mailbox.post(.finished(Self.failure("a demonstration has no file to read again")))
    }
    do {
      let configuration = try await BlockingWork.run { try ConfigurationFile.load(opened.file) }
      pending = configuration
      mailbox.post(.planned(.changes(current.changes(to: configuration))))
    } catch let failure as ConfigurationFailure {
      mailbox.post(.planned(.refused(failure.problems)))
    } catch {
      mailbox.post(.finished(Self.failure(String(describing: error))))
    }
  }

  func applyReload() async {
    guard let next = pending else { return }
    pending = nil
    let result = await interpreter.use(next, file: interpreter.current.file, for: "reload")
    told(ReloadVerb(), result)
    mailbox.post(.finished(result))
  }

  private static func failure(_ text: String) -> CommandResult {
    var result = CommandResult(command: "reload", outcome: .error, microseconds: 0)
    result.error = text
    return result
  }
}
