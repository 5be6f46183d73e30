import CacheCore
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheDisk

extension HostileShareTests {
  @Test("what the levels of a process expect adds up, in whatever order it comes")
  func expectations() async throws {
    let owner = try open()
    let socket = try connect()
    socket.send(try hello())
    // The second one was thought of first.
    let told = [StoreExpectation(hearsChanges: true, hearsLosses: true), StoreExpectation(hearsLosses: true)]
    for (number, expectation) in told.enumerated() {
      socket.send(
        try StoreRequest.expect(expectation).frame(
          number: UInt64(number + 1), origin: 0, at: SystemClock().now.nanoseconds, isAgain: false))
    }
    #expect(try await frames(3, from: socket).frames.count == 3)
    try await owner.set(Data([1]), forKey: "a")
    #expect(try await frames(1, from: socket).frames.first?.kind == StoreReply.changed)
    try await owner.close()
  }

  private func server(of level: Level) throws -> StoreServer {
    let common = try #require(level.elsewhere as? CommonStore)
    let server = common.state.withLock { state -> StoreServer? in
      if case .owner(let server) = state.role { server } else { nil }
    }
    return try #require(server)
  }

  @Test("P15 who connects and says nothing is let go after a while")
  func speechless() async throws {
    let owner = try open()
    let server = try server(of: owner)
    let socket = try connect()
    try await turns {
      _ = server.polled(now: SystemClock().now.nanoseconds + StoreServer.patience + 1)
      return try !socket.receive { _ in }
    }
    try await owner.close()
  }

  @Test("who lives by another clock is refused, be it of another boot or a minute off", arguments: [true, false])
  func otherClock(isOtherBoot: Bool) async throws {
    let owner = try open()
    let (boot, now) = (SystemClock().bootIdentifier, SystemClock().now.nanoseconds)
    let hello = StoreHello(
      instance: 7, capacity: 8 << 20, isSealed: false, boot: isOtherBoot ? boot &+ 1 : boot,
      now: isOtherBoot ? now : now - 120_000_000_000)
    let socket = try connect()
    socket.send(try hello.frame())
    let answer = try #require(try await frames(1, from: socket).frames.first)
    #expect(answer.kind == StoreReply.refused)
    #expect(try StoreHello.readRefusal(try answer.load(limit: 0)).message.contains("another clock"))
    try await owner.close()
  }

  @Test("P15 a change that is sent again while its turn has not come is made once, and both are told")
  func twiceAtOnce() async throws {
    let owner = try open()
    let server = try server(of: owner)
    await server.turns.enter(.everything)
    let put = try StoreRequest.put(
      StorePut(
        key: StoreKey(Array("a".utf8)), type: Array("data".utf8), created: SystemClock().now.nanoseconds, deadline: nil,
        cost: 1, tags: [], durability: .buffered, condition: .absent, value: Data([1]))
    ).frame(number: 1, origin: 1, at: SystemClock().now.nanoseconds, isAgain: false)
    let sockets = [try connect(), try connect()]
    for socket in sockets {
      socket.send(try hello())
      socket.send(put)
    }
    let number = StoreLedger.Number(instance: 7, sequence: 1)
    try await turns { server.ledger.withLock { $0.running[number]?.count == 2 } }
    server.turns.leave(.everything)
    for socket in sockets {
      let reply = try #require(try await frames(2, from: socket).frames.last)
      guard case .count(1) = try StoreReply(reply.kind, try reply.load(limit: 0)) else {
        Issue.record("it was not told that it was stored")
        continue
      }
    }
    try await owner.close()
  }

  @Test("P15 a question that another owner may have carried out is sent to the next one as one that is sent again")
  func sentAgain() {
    var state = CommonStore.State(lastHeard: 0, usage: LevelUsage(count: 0, cost: 0, capacity: 1))
    state.calls[1] = CommonStore.Call(request: .ping, origin: 0) { _ in }
    for (owner, isAgain) in [(5, false), (5, false), (6, true), (6, true)] as [(UInt64, Bool)] {
      state.ownerInstance = owner
      #expect(state.sending(1)?.isAgain == isAgain)
    }
  }

  @Test("P15 what is larger than the store of another process is not sent there, and its answers leave room for more")
  func roomThere() async throws {
    let owner = try open()
    let guest = try open(apart: true)
    let error = await #expect(throws: CacheError.self) { try await guest.set(Data(count: 10 << 20), forKey: "a") }
    #expect(error?.code == .tooLarge && error?.message.contains("does not fit into a store of") == true)
    for _ in 0...CommonStore.mostSent { #expect(try await guest.lookup("b").missReason == .absent) }
    try await guest.close()
    try await owner.close()
  }

  @Test("P15 a listing that goes on behind every place there is ends, and nothing else does")
  func farPlace() async throws {
    let owner = try open()
    try await owner.set(Data([1]), forKey: "a")
    let socket = try connect()
    socket.send(try hello())
    let welcome = try #require(try await frames(1, from: socket).frames.first)
    let instance = try StoreHello.readWelcome(try welcome.load(limit: 0))
    socket.send(
      try StoreRequest.list(from: .max, of: instance).frame(
        number: 1, origin: 0, at: SystemClock().now.nanoseconds, isAgain: false))
    let reply = try #require(try await frames(1, from: socket).frames.first)
    guard case .page(let entries, next: nil, of: _) = try StoreReply(reply.kind, try reply.load(limit: 0)) else {
      Issue.record("a page was to come")
      return
    }
    #expect(entries.isEmpty)
    #expect(try await owner.get("a") == Data([1]))
    try await owner.close()
  }

  @Test("who would wait for a silent owner for ever waits for a very long time")
  func endlessPatience() async throws {
    let owner = try open(silence: .seconds(Int64.max))
    let guest = try open(apart: true, silence: .seconds(Int64.max))
    try await guest.set(Data([1]), forKey: "a")
    #expect(try await owner.get("a") == Data([1]))
    // The next one takes over.
    try await owner.close()
    #expect(try await guest.get("a") == Data([1]))
    try await guest.close()
  }

  @Test("P15 an owner that reads the keys of sealed entries for many answers others, and reads for them, meanwhile")
  func learning() async throws {
    let cipher = HeldCipher()
    func open(_ sharing: StoreSharing) throws -> Level {
      try Level(directory: folder.path, capacity: 8 << 20, sharing: sharing, cipher: cipher)
    }
    let first = try open(.exclusive)
    try await first.set(Data([1]), forKey: "a")
    try await first.close()
    let owner = try open(SharedDirectoryTests.sharing(apart: false))
    cipher.hold()
    defer { cipher.letGo() }
    let listening = try sealedGuest()
    func ask(_ request: StoreRequest, _ number: UInt64) throws {
      listening.send(
        try request.frame(number: number, origin: 0, at: SystemClock().now.nanoseconds, isAgain: false))
    }
    // As many as there are threads for reads.
    for number in 1...8 { try ask(.expect(StoreExpectation(hearsLosses: true)), UInt64(number)) }
    // When this is answered, all of these have begun.
    try ask(.get(StoreKey([9]), includingExpired: true), 9)
    #expect(try await frames(2, from: listening).frames.last?.number == 9)
    try await turns { cipher.isWaitedFor }
    #expect(try await frames(1, from: try sealedGuest()).frames.first?.kind == StoreReply.welcome)
    let server = try server(of: owner)
    let isRead = Atomic(false)
    let reading = Task {
      try await server.store.blocking {}
      isRead.store(true, ordering: .releasing)
    }
    try await turns { isRead.load(ordering: .acquiring) }
    cipher.letGo()
    #expect(try await frames(8, from: listening).frames.count == 8)
    try await reading.value
    try await owner.close()
  }

  @Test("P15 who takes over a sealed directory lets others in while it reads the keys of entries for itself")
  func learningAtTakeover() async throws {
    let cipher = HeldCipher()
    func open(apart: Bool, _ removalListener: (@Sendable (Removal<String>) -> Void)? = nil) throws -> Level {
      try Level(
        directory: folder.path, capacity: 8 << 20, sharing: SharedDirectoryTests.sharing(apart: apart), cipher: cipher,
        removalListener: removalListener)
    }
    let owner = try open(apart: false)
    try await owner.set(Data([1]), forKey: "a")
    let next = try open(apart: true) { _ in }
    cipher.hold()
    defer { cipher.letGo() }
    try await owner.close()
    try await turns { cipher.isWaitedFor }
    #expect(try await frames(1, from: try sealedGuest()).frames.first?.kind == StoreReply.welcome)
    cipher.letGo()
    #expect(try await next.get("a") == Data([1]))
    try await next.close()
  }

  @Test("P15 a long value for which this process has no descriptor left is read as far as its head, and fails alone")
  func noDescriptorLeft() throws {
    let sent = try SharedFrame(kind: 3, number: 7, [UInt8](repeating: 1, count: SharedFrame.mostInline + 1))
    var (bytes, files) = (sent.bytes[...], [StoreFile(-2)])
    let frame = try #require(try SharedFrame.next(in: &bytes, &files))
    #expect(frame.number == 7)
    let failure = #expect(throws: SystemFailure.self) { try frame.load(limit: .max) }
    #expect(failure?.number == EMFILE)
  }

  @Test(
    "an owner whose directory was removed, and made anew by somebody who came first, asks that one from then on",
    arguments: [CacheError.Code.inUse, .unusableStore])
  func replacedOwner(code: CacheError.Code) async throws {
    let owner = try open()
    try await owner.set(Data([1]), forKey: "a")
    try FileManager.default.removeItem(atPath: folder.path)
    let other = try open(apart: true)
    // With a file of its own the directory holds another store.
    if code == .unusableStore { try await other.set(Data([2]), forKey: "b") }
    let error = await #expect(throws: CacheError.self) { try await owner.set(Data([3]), forKey: "c") }
    #expect(error?.code == code)
    try await turns { (try? await owner.set(Data([4]), forKey: "c")) != nil }
    #expect(try await other.get("c") == Data([4]))
    #expect(try await owner.get("b") == (code == .inUse ? nil : Data([2])))
    #expect(try await owner.get("a") == nil)
    try await owner.close()
    #expect(folder.names.contains("socket"))
    try await other.close()
  }

  @Test(
    "P15 an owner that writes nothing notices that its directory was replaced, and asks whoever has it now",
    arguments: [false, true])
  func idleOwnerReplaced(isMoved: Bool) async throws {
    let owner = try open(silence: .milliseconds(50))
    let guest = try open(apart: true, silence: .milliseconds(50))
    try await owner.set(Data([1]), forKey: "a")
    let moved = folder.path + "-moved"
    defer { try? FileManager.default.removeItem(atPath: moved) }
    if isMoved {
      try FileManager.default.moveItem(atPath: folder.path, toPath: moved)
    } else {
      try FileManager.default.removeItem(atPath: folder.path)
    }
    let other = try open(apart: true, silence: .milliseconds(50))
    try await other.set(Data([2]), forKey: "a")
    try await turns { try await owner.get("a") == Data([2]) }
    try await turns { try await guest.get("a") == Data([2]) }
    for level in [other, guest, owner] { try await level.close() }
  }

  @Test("a change whose turn comes when its owner has given up the files is made by whoever has them then")
  func turnAfterReplacement() async throws {
    let owner = try open()
    try await owner.set(Data([1]), forKey: "a")
    let server = try server(of: owner)
    await server.turns.enter(.everything)
    let executor = ServingExecutor()
    let change = Task(executorPreference: executor) { try await owner.set(Data([3]), forKey: "c") }
    // Behind the change's first steps: it waits for its turn by then.
    await Task(executorPreference: executor) {}.value
    try FileManager.default.removeItem(atPath: folder.path)
    let other = try open(apart: true)
    _ = await server.carryOut(.remove(StoreKey([1]), .buffered))
    try await turns { server.store.state.withLock { $0.isClosed } }
    server.turns.leave(.everything)
    try await change.value
    #expect(try await other.get("c") == Data([3]))
    try await owner.close()
    try await other.close()
  }

  @Test("P15 a question that ends the connection each time is asked so many times, and then counts as unanswered")
  func endsWhenAsked() async throws {
    let asked = Mutex(0)
    let fake = try FakeOwner(folder.path) { socket, frame in
      if frame.kind == StoreRequest.hello { return socket.send(try StoreHello.welcome(instance: 5)) }
      var (origin, sent): (UInt64, Int64) = (0, 0)
      if case .expect = try StoreRequest(frame.kind, try frame.load(limit: 0), origin: &origin, sent: &sent) {
        return socket.send(try StoreReply.count(0).frame(number: frame.number))
      }
      asked.withLock { $0 += 1 }
      throw ProtocolViolation()
    }
    let level = try open()
    #expect(try await level.lookup("a").missReason == .unanswered)
    #expect(asked.withLock { $0 } == CommonStore.mostEnds)
    let error = await #expect(throws: CacheError.self) { try await level.set(Data([1]), forKey: "a") }
    #expect(error?.code == .timedOut)
    #expect(asked.withLock { $0 } == 2 * CommonStore.mostEnds)
    fake.end()
    try await turns { level.owner == .thisProcess }
    try await level.set(Data([2]), forKey: "a")
    #expect(try await level.get("a") == Data([2]))
    try await level.close()
  }

  @Test("P15 questions that are under way beside one that ends the connection each time are answered")
  func endsOthers() async throws {
    let asked = Mutex((bad: 0, others: 0))
    let fake = try FakeOwner(folder.path) { socket, frame in
      if frame.kind == StoreRequest.hello { return socket.send(try StoreHello.welcome(instance: 5)) }
      var (origin, sent): (UInt64, Int64) = (0, 0)
      guard case .get(let key, _) = try StoreRequest(frame.kind, try frame.load(limit: 0), origin: &origin, sent: &sent)
      else { return socket.send(try StoreReply.count(0).frame(number: frame.number)) }
      let (isBad, now) = (
        key == StoreKey(Array("bad".utf8)),
        asked.withLock { asked in
          if key == StoreKey(Array("bad".utf8)) { asked.bad += 1 } else { asked.others += 1 }
          return asked
        }
      )
      // The first connection ends when all are under way.
      if now.bad == 1, now.others < 10 { return }
      if isBad || now.bad == 1 { throw ProtocolViolation() }
      socket.send(try StoreReply.miss(.absent).frame(number: frame.number))
    }
    let level = try open()
    async let bad = level.lookup("bad")
    try await turns { asked.withLock { $0.bad } == 1 }
    try await withThrowingTaskGroup(of: MissReason?.self) { group in
      for number in 0..<10 { group.addTask { try await level.lookup("\(number)").missReason } }
      for try await reason in group { #expect(reason == .absent) }
    }
    #expect(try await bad.missReason == .unanswered)
    #expect(asked.withLock { $0.bad } == CommonStore.mostEnds)
    fake.end()
    try await level.close()
  }

  @Test("P15 a socket that somebody has removed is made anew, for those who come")
  func removedSocket() async throws {
    let owner = try open(silence: .milliseconds(10))
    try FileManager.default.removeItem(atPath: folder.path + "/socket")
    let guest = try open(apart: true)
    #expect(guest.owner == .process(getpid()))
    try await guest.close()
    try await owner.close()
  }

  private func sealedGuest() throws -> FrameSocket {
    let socket = try connect()
    socket.send(
      try StoreHello(
        instance: .random(in: 1 ... .max), capacity: 8 << 20, isSealed: true, boot: SystemClock().bootIdentifier,
        now: SystemClock().now.nanoseconds
      ).frame())
    return socket
  }
}

/// Seals nothing, and opens records when it may.
private final class HeldCipher: StoreCipher {
  private let state = Mutex((isHeld: false, waiting: 0))
  private let opening = DispatchSemaphore(value: 0)

  let sealingKey = "k"
  let openingKeys: Set = ["k"]

  var isWaitedFor: Bool { state.withLock { $0.waiting > 0 } }

  func hold() { state.withLock { $0.isHeld = true } }

  func letGo() {
    let waiting = state.withLock { state in
      defer { state = (false, 0) }
      return state.waiting
    }
    for _ in 0..<waiting { opening.signal() }
  }

  func seal(_ bytes: [UInt8], binding: [UInt8]) -> [UInt8] { [0x4b] + bytes }

  func open(_ sealed: [UInt8], binding: [UInt8]) -> [UInt8] {
    let isHeld = state.withLock { state in
      // The file of keys is bound to its head only.
      let isHeld = state.isHeld && binding.count > 16
      if isHeld { state.waiting += 1 }
      return isHeld
    }
    if isHeld { opening.wait() }
    return Array(sealed.dropFirst())
  }

  func key(of sealed: [UInt8]) -> String? { sealed.first == 0x4b ? "k" : nil }
  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] { Array((bytes + Array(repeating: 0, count: 16)).prefix(16)) }
}
