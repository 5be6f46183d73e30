import CacheEngine
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// `undo`: everything as it was, or nothing at all.
struct UndoTests {
  private func interpreter() async throws -> Interpreter {
    let configuration = try ConfigurationReader.read(
      """
      levels:
        - memory: { capacity: 1 MiB, expiry: 1h }
        - memory: { name: second, capacity: 8 MiB }
      """, file: "c.yaml", folder: "/")
    return Interpreter(live: try await CacheBuilder.build(configuration, file: "c.yaml"), mode: .interactive)
  }

  private struct Copy: Equatable {
    var value: Data?
    var deadline: CacheInstant?
    var created: CacheInstant?
    var tags: Set<String>?
  }

  private func copies(of key: String, in interpreter: Interpreter) async throws -> [Copy] {
    var copies: [Copy] = []
    for level in interpreter.current.live.levels {
      let entry = try await level.storage?.lookupIncludingExpired(key).entry
      copies.append(
        Copy(value: entry?.value, deadline: entry?.deadline, created: entry?.created, tags: entry?.tags))
    }
    return copies
  }

  @Test(
    "A set, a del and an expire are taken back: value, deadline, age and tags in every level",
    arguments: ["set a other --ttl 5s", "set a other --level second", "del a", "expire a"])
  func takesBack(line: String) async throws {
    let interpreter = try await interpreter()
    try await interpreter.current.live.cache.store(
      Data("one".utf8), forKey: "a", terms: StoreTerms(expiry: .after(.seconds(60)), tags: ["letters"]))
    let before = try await copies(of: "a", in: interpreter)
    let command = try #require(try Verbs.parse(line))
    #expect(await interpreter.run(command).outcome == .ok)
    #expect(try await copies(of: "a", in: interpreter) != before)
    #expect(interpreter.undoable?.hasSuffix(" a") == true)
    let result = await interpreter.run(UndoVerb())
    #expect(result.outcome == .ok, "\(result.error ?? "")")
    #expect(try await copies(of: "a", in: interpreter) == before)
    #expect(interpreter.undoable == nil)
  }

  @Test("Where keys are masked an answer names none, whether it succeeds or fails")
  func masked() async throws {
    let interpreter = try await interpreter()
    let mask = KeyMask(salt: 4)
    let set = SetVerb(key: "my key", value: .text("one"), timeToLive: nil, level: nil)
    _ = await interpreter.run(set, mask: mask)
    let result = await interpreter.run(UndoVerb(), mask: mask)
    #expect(result.note?.hasPrefix("set \(mask.name(of: "my key")) is undone in memory") == true, "\(result)")
    _ = await interpreter.run(set, mask: mask)
    let second = try #require(interpreter.current.live.level(named: "second")?.storage)
    try await second.set(Data("other".utf8), forKey: "my key")
    let failed = await interpreter.run(UndoVerb(), mask: mask)
    #expect(failed.error?.contains("set \(mask.name(of: "my key")) stays") == true, "\(failed)")
  }

  @Test("The first store of a key is taken back by removing it")
  func takesBackFirst() async throws {
    let interpreter = try await interpreter()
    _ = await interpreter.run(SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil))
    let result = await interpreter.run(UndoVerb())
    #expect(result.note == "set a is undone in memory, second")
    #expect(try await copies(of: "a", in: interpreter).allSatisfy { $0.value == nil })
  }

  @Test("What was done to the cache of before is not taken back in another")
  func anotherCache() async throws {
    let interpreter = try await interpreter()
    _ = await interpreter.run(SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil))
    #expect(interpreter.undoable != nil)
    let other = try ConfigurationReader.read("levels: [ memory: { name: other } ]", file: "d.yaml", folder: "/")
    _ = await interpreter.use(other, file: "d.yaml", for: "load")
    #expect(interpreter.undoable == nil)
    #expect(await interpreter.run(UndoVerb()).outcome == .error)
    _ = await interpreter.run(SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil))
    #expect(interpreter.undoable != nil)
    // That of an app that was reached again.
    await interpreter.use(try await self.interpreter().current.live)
    #expect(interpreter.undoable == nil)
  }

  @Test("A removal of what only a server makes is not offered back")
  func served() async throws {
    var live = try await interpreter().current.live
    let cache = live.cache
    live.purge = { key in if let key { try await cache.remove(key) } else { try await cache.clear() } }
    try await cache.set(Data("one".utf8), forKey: "a")
    let interpreter = Interpreter(live: live, mode: .interactive)
    #expect(await interpreter.run(DeleteVerb(key: "a")).outcome == .ok)
    #expect(try await cache.get("a") == nil)
    #expect(interpreter.undoable == nil)
  }

  @Test("What failed in one level cannot be taken back in another")
  func failed() async throws {
    let interpreter = try await interpreter()
    let fault = try #require(try Verbs.parse("fault second error 100%"))
    #expect(await interpreter.run(fault).outcome == .ok)
    let set = SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil)
    #expect(await interpreter.run(set).outcome == .error)
    #expect(try await copies(of: "a", in: interpreter).map { $0.value != nil } == [true, false])
    #expect(interpreter.undoable == nil)
  }

  @Test("A cache that was opened for reading only is read, and says why it is not changed")
  func readOnly() async throws {
    let live = try await interpreter().current.live
    try await live.levels[0].level.store(Data("one".utf8), forKey: "a", terms: StoreTerms(expiry: .never))
    let reader = Interpreter(OpenedCache(live: live), mode: .interactive, isReadOnly: true)
    for line in ["set a 2", "del a", "expire a", "clear --all"] {
      let result = await reader.run(try #require(try Verbs.parse(line)))
      #expect(result.error == "this cache was opened for reading only; open it without --read-only", "\(line)")
    }
    let read = await reader.run(GetVerb(key: "a", level: nil))
    #expect(read.value == Data("one".utf8))
    #expect(reader.undoable == nil)
  }

  @Test("If the key has changed since, nothing is touched")
  func refuses() async throws {
    let interpreter = try await interpreter()
    _ = await interpreter.run(SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil))
    try await interpreter.current.live.levels[1].level.store(
      Data("two".utf8), forKey: "a", terms: StoreTerms(expiry: .never))
    let before = try await copies(of: "a", in: interpreter)
    let result = await interpreter.run(UndoVerb())
    #expect(result.outcome == .error)
    #expect(result.error == "the key has changed in second since; set a stays")
    #expect(try await copies(of: "a", in: interpreter) == before)
  }

  @Test("What concerns more than a key, what changed nothing, and what came before another change cannot be undone")
  func offersNot() async throws {
    let interpreter = try await interpreter()
    _ = await interpreter.run(DeleteVerb(key: "nobody"))
    #expect(interpreter.undoable == nil)
    _ = await interpreter.run(SetVerb(key: "a", value: .text("one"), timeToLive: nil, level: nil))
    #expect(interpreter.undoable == "set a")
    // Reading changes nothing that matters here.
    _ = await interpreter.run(StatsVerb())
    #expect(interpreter.undoable == "set a")
    _ = await interpreter.run(ClearVerb(level: nil))
    #expect(interpreter.undoable == nil)
    #expect(await interpreter.run(UndoVerb()).outcome == .error)
  }
}
