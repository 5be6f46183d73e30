@testable import CacheCore
import CacheEngine
@testable import CacheEngineCashier
import CacheEngineTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CashierTests {
  private let bench = CashierBench()

  // MARK: Instances

  @Test("S1 whoever asks for a name gets the same cache, at once from many threads as well")
  func sameInstance() async throws {
    let first = try await bench.open()
    let others = try await withThrowingTaskGroup(of: Cashier.self) { group in
      for _ in 0..<50 { group.addTask { try await bench.open() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(others.count == 50 && others.allSatisfy { $0 === first })
    let (left, right) = try await (
      Cashier.open(in: .purgeable(in: bench.folder.path)),
      Cashier.open("default", in: .purgeable(in: bench.folder.path))
    )
    #expect(left === right && left !== first)
  }

  @Test("S1 names are text: those that are equal are one, those that only look alike are not")
  func names() async throws {
    let composed = try await bench.open("caf\u{e9}")
    #expect(try await bench.open("cafe\u{301}") === composed)
    #expect(try await bench.open("Caf\u{e9}") !== composed)
  }

  @Test("a location without a path is refused, and not looked for at the root")
  func noPath() async {
    await #expect { try await Cashier.open(in: .durable(in: bench.folder.path + "\0")) } throws: {
      ($0 as? CacheError)?.code == .invalidSetting
    }
  }

  @Test("a path is cut at its slashes, also where an accent follows one")
  func accents() {
    for path in ["/\u{301}a", "/tmp/\u{301}a/b"] {
      #expect(ResolvedPath.of(path).utf8.elementsEqual(path.utf8))
      #expect(ResolvedPath.of("/./\(path)//").utf8.elementsEqual(path.utf8))
    }
  }

  @Test("a cache that nobody holds goes, and is not known any more")
  func noLeak() async throws {
    let location = CashierLocation.purgeable(in: bench.folder.path)
    weak var gone: Cashier?
    do {
      let cashier = try await bench.open()
      gone = cashier
      #expect(CashierRegistry.knows(ResolvedPath.of(location.folder(of: "news"))))
    }
    #expect(gone == nil)
    #expect(!CashierRegistry.knows(ResolvedPath.of(location.folder(of: "news"))))
  }

  @Test("a folder is one cache, however its path is written: with slashes, dots, from here, or through a link")
  func oneFolder() async throws {
    let path = bench.folder.path
    let link = "\(path)/link"
    try FileManager.default.createDirectory(atPath: "\(path)/real", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(path)/real")
    let here = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let spellings = ["real", "real/", "real/.", "./real//", "link", "link/../link", "real/new/.."]
    var first: Cashier?
    for directory in spellings.map({ "\(path)/\($0)" }) + [here + path + "/real"] {
      let cashier = try await Cashier.open(in: .purgeable(in: directory), clock: bench.clock)
      #expect(first == nil || cashier === first, "\(directory)")
      first = cashier
    }
    try await first?.set("a", forKey: "key")
    try await first?.close()
    let again = try await Cashier.open(in: .purgeable(in: link), clock: bench.clock)
    #expect(try await again.string(forKey: "key") == "a")
    try await again.close()
  }

  @Test("a cache that is being closed is handed out to nobody, though its turn to be closed has not come")
  func closingAndOpening() async throws {
    let first = try await bench.open()
    try await first.set("a", forKey: "key")
    let gate = Gate()
    let holder = Task { try await CashierRegistry.hold(first.folder) { try await gate.pass() } }
    await gate.arrivals(1)
    // It runs here until it has to wait for its turn.
    let closing = Task.immediate { try await first.close() }
    #expect(first.isClosed)
    let opening = Task.immediate { try await bench.open() }
    gate.open()
    let second = try await opening.value
    #expect(second !== first)
    #expect(try await second.string(forKey: "key") == "a")
    try await second.set("b", forKey: "key")
    try await closing.value
    try await holder.value
    #expect(try await bench.open() === second)
    #expect(try await second.string(forKey: "key") == "b")
  }

  @Test("a task that is cancelled while it waits for its turn to close a cache closes it all the same")
  func closingWhenCancelled() async throws {
    let cashier = try await bench.open()
    let gate = Gate()
    let holder = Task { try await CashierRegistry.hold(cashier.folder) { try await gate.pass() } }
    await gate.arrivals(1)
    let closing = Task.immediate { try await cashier.close() }
    #expect(cashier.isClosed)
    closing.cancel()
    gate.open()
    try await closing.value
    try await holder.value
    #expect(!CashierRegistry.knows(cashier.folder))
  }

  @Test("a cache is not closed in the middle of a change of its settings, which the next one to open it has")
  func closingWhileSettingsChange() async throws {
    var opening = CashierOpening(
      id: "news", location: .purgeable(in: bench.folder.path), capacity: 8 << 20, clock: bench.clock,
      observer: bench.observer)
    let rename = opening.calls.rename
    let (armed, held, goesOn) = (Calls<Bool>(), Calls<String>(), DispatchSemaphore(value: 0))
    defer { goesOn.signal() }
    opening.calls.rename = { folder, old, new in
      if old.hasSuffix(".new"), armed.count == 1, held.count == 0 {
        held.append(new)
        goesOn.wait()
      }
      return rename(folder, old, new)
    }
    let cashier = try await Cashier.open(opening)
    armed.append(true)
    let change = Task { try await cashier.changeSettings { $0.lifespan = .seconds(60) } }
    try await turns { held.count == 1 }
    let closed = Calls<Bool>()
    let closing = Task {
      try await cashier.close()
      closed.append(true)
    }
    try await turns { closed.count == 1 || cashier.settingsWrites.waitingCount == 1 }
    #expect(closed.count == 0)
    goesOn.signal()
    try await change.value
    try await closing.value
    #expect(try await bench.open().settings.lifespan == .seconds(60))
  }

  @Test("of caches that many open, use and close at once, none is handed out whose close was asked for before")
  func manyOpenAndClose() async throws {
    let closed = Calls<ObjectIdentifier>()
    let kept = Calls<Cashier>()
    try await withThrowingTaskGroup { group in
      for number in 0..<64 {
        group.addTask {
          for round in 0..<5 {
            let before = Set(closed.all)
            let cashier = try await bench.open()
            // Kept, so that no other is found at its address.
            kept.append(cashier)
            #expect(!before.contains(ObjectIdentifier(cashier)))
            do { try await cashier.set(round, forKey: "\(number)") } catch let error as CacheError {
              #expect(error.code == .closed && Set(closed.all).contains(ObjectIdentifier(cashier)))
            }
            if number % 4 == 0 {
              closed.append(ObjectIdentifier(cashier))
              try await cashier.close()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = try await bench.open()
    try await last.set(-1, forKey: "0")
    #expect(try await last.value(Int.self, forKey: "0") == -1)
  }

  @Test("a closed cache says so, and the name opens a new one")
  func closing() async throws {
    let first = try await bench.open()
    try await first.set("a", forKey: "key")
    async let closing: Void = first.close()
    let second = try await bench.open()
    try await closing
    try await first.close()
    let error = await #expect(throws: CacheError.self) { try await first.string(forKey: "key") }
    #expect(error?.code == .closed)
    await #expect(throws: CacheError.self) { try await first.changeSettings { $0.isPersistent = false } }
    let third = second === first ? try await bench.open() : second
    #expect(third !== first)
    #expect(try await third.string(forKey: "key") == "a")
  }

  @Test("S2 clearing a cache leaves the others")
  func isolated() async throws {
    let (news, photos) = try await (bench.open("news"), bench.open("photos"))
    try await news.set("a", forKey: "key")
    try await photos.set("b", forKey: "key")
    try await news.clear()
    #expect(try await news.string(forKey: "key") == nil)
    #expect(try await photos.string(forKey: "key") == "b")
    await photos.onMemoryWarning()
    #expect(try await photos.string(forKey: "key") == "b")
  }

  @Test("S3 a new cache is persistent, has no lifespan, gives expired data, is unprotected, and goes with the version")
  func defaults() async throws {
    let settings = try await bench.open().settings
    #expect(settings.isPersistent)
    #expect(settings.lifespan == .zero)
    #expect(settings.returnsExpiredData)
    #expect(!settings.isProtected)
    #expect(!settings.persistsCacheAcrossVersions)
  }

  @Test("S4 a durable cache and a purgeable one of one name have nothing to do with each other")
  func locations() async throws {
    let (durable, purgeable) = try await (bench.open(durable: true), bench.open())
    #expect(durable !== purgeable)
    try await durable.set("kept", forKey: "key")
    try await purgeable.set("not", forKey: "key")
    try await purgeable.changeSettings { $0.lifespan = .seconds(1) }
    try await purgeable.clear()
    #expect(try await durable.string(forKey: "key") == "kept")
    #expect(durable.settings.lifespan == .zero)
  }

  // MARK: Settings

  @Test("S41 settings are there again in a new process")
  func settingsSurvive() async throws {
    let first = try await bench.open()
    try await first.changeSettings { settings in
      settings.lifespan = .milliseconds(1_500)
      settings.returnsExpiredData = false
      settings.isPersistent = false
      settings.isProtected = true
      settings.persistsCacheAcrossVersions = true
    }
    let changed = first.settings
    #expect(changed != CashierSettings())
    #expect(try await bench.openAfterKill().settings == changed)
    try await first.close()
    #expect(try await bench.open().settings == changed)
  }

  @Test("S35 S41 settings and entries of a cache whose folder was removed are there in a new process", arguments: 0..<4)
  func folderRemoved(way: Int) async throws {
    let first = try await bench.open(version: "1.0")
    try await first.changeSettings { $0.lifespan = .seconds(60) }
    try await first.set("a", forKey: "key")
    try FileManager.default.removeItem(atPath: first.folder)
    switch way {
    case 0: try await first.clear()
    case 1: try await first.remove(forKey: "key")
    case 2: try await first.refreshValidation(forKey: "key")
    default: break
    }
    try await first.set("b", forKey: "other")
    for next in [try await bench.openAfterKill(version: "1.0"), first] {
      #expect(next.settings.lifespan == .seconds(60))
      #expect(try await next.string(forKey: "other") == "b")
    }
    try await first.close()
    #expect(bench.observer.events.isEmpty)
  }

  @Test("S41 settings that cannot be written stay as they were")
  func settingsFail() async throws {
    var opening = CashierOpening(
      id: "news", location: .purgeable(in: bench.folder.path), clock: bench.clock, observer: bench.observer)
    let faults = FaultSwitch()
    opening.calls = faults.calls
    let cashier = try await Cashier.open(opening)
    faults.failFrom(0)
    await #expect(throws: CacheError.self) { try await cashier.changeSettings { $0.lifespan = .seconds(5) } }
    #expect(cashier.settings.lifespan == .zero)
    faults.failFrom(nil)
    try await cashier.changeSettings { $0.lifespan = .seconds(5) }
    #expect(cashier.settings.lifespan == .seconds(5))
  }

  @Test("S41 settings that are damaged are forgotten and reported; the entries stay")
  func settingsDamaged() async throws {
    let first = try await bench.open()
    try await first.changeSettings { $0.lifespan = .seconds(5) }
    try await first.set("a", forKey: "key")
    try await first.close()
    let name = try #require(try bench.files.first { $0.hasSuffix(".plist") })
    // Elsewhere, since the process knows the settings of this folder still.
    let copy = try bench.copy()
    try copy.write(Data("no list".utf8), to: name)
    let second = try await bench.open(in: copy)
    #expect(second.settings == CashierSettings())
    #expect(try await second.string(forKey: "key") == "a")
    #expect(bench.observer.events.contains { if case .failed(.get, _, _) = $0.kind { true } else { false } })
    try await second.changeSettings { $0.lifespan = .seconds(6) }
    #expect(try await bench.open(in: try bench.copy(of: copy)).settings.lifespan == .seconds(6))
  }

  @Test("S41 settings of a newer version are refused, and neither they nor the entries are touched")
  func settingsNewer() async throws {
    let first = try await bench.open()
    try await first.set("a", forKey: "key")
    try await first.close()
    let name = try #require(try bench.files.first { $0.hasSuffix(".plist") })
    let copy = try bench.copy()
    let newer = try PropertyListSerialization.data(
      fromPropertyList: ["version": 2, "entries": [String: Any]()] as [String: Any], format: .binary, options: 0)
    try copy.write(newer, to: name)
    let error = await #expect(throws: CacheError.self) { try await bench.open(in: copy) }
    #expect(error?.message.contains("newer version") == true)
    #expect(try copy.bytes(of: name) == newer)
  }

  @Test("S18 clear-all keeps the settings, now and for the next process")
  func clearKeepsSettings() async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.lifespan = .seconds(60) }
    try await cashier.clear()
    #expect(cashier.settings.lifespan == .seconds(60))
    #expect(try await bench.openAfterKill().settings.lifespan == .seconds(60))
  }

  // MARK: Names and places

  @Test("S21 any name stays inside the cache's own folder, and no two share one")
  func folderNames() {
    let ids = [
      "", "a", "A", "%", "%61", "a/b", "a b", "../a", ".", "..", "/", "caché", "日本", "a\u{0}b", "a\n", "news.de",
      String(repeating: "x", count: 10_000), String(repeating: "x", count: 9_999) + "y", "con", "~", "-", "_",
    ]
    let names = ids.map(FolderName.of)
    #expect(Set(names).count == ids.count)
    // Also where upper and lower case are the same.
    #expect(Set(names.map { $0.lowercased() }).count == ids.count)
    for name in names {
      #expect((1...200).contains(name.utf8.count))
      #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_%".utf8.contains($0) })
    }
  }

  @Test(
    "S21 names and keys with slashes, spaces, dots and any letters are read back, and nothing is written elsewhere",
    arguments: ["a/b c", "../../escape", "日本 語", "..", "", "a\u{0}b"])
  func hostileNames(name: String) async throws {
    let cashier = try await bench.open(name)
    try await cashier.set("value", forKey: name)
    try await cashier.set("other", forKey: name + "/")
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: name) == "value")
    #expect(bench.folder.names == ["Cashier"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path + "/Cashier").count == 1)
  }

  @Test("S21 a folder that belongs to another name is not used")
  func foreignFolder() async throws {
    let first = try await bench.open("one")
    try await first.close()
    let location = CashierLocation.purgeable(in: bench.folder.path)
    try FileManager.default.moveItem(atPath: location.folder(of: "one"), toPath: location.folder(of: "two"))
    let error = await #expect(throws: CacheError.self) { try await bench.open("two") }
    #expect(error?.code == .unusableStore)
  }

  @Test("S19 a durable cache stands in another directory, and otherwise behaves the same")
  func durable() async throws {
    let cashier = try await bench.open(durable: true)
    try await cashier.changeSettings { $0.lifespan = .seconds(10) }
    try await cashier.set([1, 2], forKey: "key")
    await cashier.onMemoryWarning()
    bench.clock.advance(by: .seconds(10))
    #expect(try await cashier.array(of: Int.self, forKey: "key") == [1, 2])
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(bench.folder.names == ["Cashier-durable"])
    #expect(CashierLocation.durable.directory != CashierLocation.purgeable.directory)
    #expect(CashierLocation.durable.isDurable && !CashierLocation.purgeable.isDurable)
    #if os(Linux)
    let environment = ProcessInfo.processInfo.environment
    let caches = environment["XDG_CACHE_HOME"] ?? "\(NSHomeDirectory())/.cache"
    #expect(CashierLocation.purgeable.directory == "\(caches)/\(ProcessInfo.processInfo.processName)")
    #endif
    try await cashier.clear()
    #expect(try await cashier.array(of: Int.self, forKey: "key") == nil)
  }

  @Test("S43 with protection on and off, files and folders are for their owner only", arguments: [true, false])
  func privateFiles(isProtected: Bool) async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.isProtected = isProtected }
    try await cashier.set(Data(count: 1 << 20), forKey: "long")
    try await cashier.set("short", forKey: "short")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path)
    #expect(paths.contains { $0.hasSuffix(".plist") || $0.contains("log-") })
    for path in [""] + paths.map({ "/" + $0 }) {
      let attributes = try FileManager.default.attributesOfItem(atPath: bench.folder.path + path)
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
      #expect(mode == (attributes[.type] as? FileAttributeType == .typeDirectory ? 0o700 : 0o600), "\(path)")
    }
  }
}
