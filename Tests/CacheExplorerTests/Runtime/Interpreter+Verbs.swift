@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

/// Verbs alone: without what the interpreter notes before and after them for undo.
extension Interpreter {
  func get(_ key: String, level: String?) async -> CommandResult { await GetVerb(key: key, level: level).run(in: self) }

  func set(_ key: String, to value: SetVerb.Source, timeToLive: Duration?, level: String?) async -> CommandResult {
    await SetVerb(key: key, value: value, timeToLive: timeToLive, level: level).run(in: self)
  }

  func delete(_ key: String) async -> CommandResult { await DeleteVerb(key: key).run(in: self) }
  func clear(level: String?) async -> CommandResult { await ClearVerb(level: level).run(in: self) }
  func expire(_ key: String?) async -> CommandResult { await ExpireVerb(key: key).run(in: self) }
  func warn() async -> CommandResult { await WarnVerb().run(in: self) }
}
