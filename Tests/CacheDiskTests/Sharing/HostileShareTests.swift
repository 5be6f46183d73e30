import CStore
import CacheCore
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheDisk

/// Who is at the other end of the socket may be old, stopped, broken or hostile.
@Suite(.timeLimit(.minutes(10))) struct HostileShareTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()

  func open(apart: Bool = false, silence: Duration = .seconds(30)) throws -> Level {
    try Level(
      directory: folder.path, capacity: 8 << 20,
      sharing: SharedDirectoryTests.sharing(apart: apart, silence: silence))
  }

  func connect() throws -> FrameSocket {
    let directory = try StoreDirectory(folder.path, access: .readWrite, calls: FileCalls())
    let number = SharedSocket.connect(in: directory)
    try #require(number >= 0)
    return FrameSocket(number, wake: {})
  }

  /// The frames that come until there are so many, or the connection has ended.
  func frames(_ count: Int, from socket: FrameSocket) async throws -> (frames: [SharedFrame], isOpen: Bool) {
    var all: [SharedFrame] = []
    var isOpen = true
    try await turns {
      isOpen = try socket.receive { all += $0 }
      return !isOpen || all.count >= count
    }
    return (all, isOpen)
  }

  func hello(_ version: UInt32 = StoreHello.version, instance: UInt64 = 7) throws -> SharedFrame {
    var hello = StoreHello(
      instance: instance, capacity: 8 << 20, isSealed: false, boot: SystemClock().bootIdentifier,
      now: SystemClock().now.nanoseconds)
    hello.version = version
    return try hello.frame()
  }

  @Test("P15 whoever sends what cannot be read is dropped, and nobody else notices")
  func garbage() async throws {
    let owner = try open()
    try await owner.set(Data("x".utf8), forKey: "a")
    var generator = SeededGenerator(seed: 17)
    let put = try StoreRequest.put(
      StorePut(
        key: StoreKey([1, 2, 3]), type: [4], created: 0, deadline: nil, cost: 1, tags: ["t"], durability: .buffered,
        condition: nil, value: Data([9]))
    ).frame(number: 1, origin: 1, at: SystemClock().now.nanoseconds, isAgain: false)
    for round in 0..<200 {
      let socket = try connect()
      var bytes: [UInt8]
      switch round % 4 {
      // Noise instead of a hello.
      case 0: bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) } + [0xff, 0xff]
      // A length beyond all measure.
      case 1: bytes = [0xff, 0xff, 0xff, 0x7f] + [UInt8](repeating: 0, count: 20)
      // A request that was changed in one place, or cut short, after a hello.
      case 2:
        bytes = try hello().bytes + put.bytes
        let place = Int.random(in: 84..<bytes.count, using: &generator)
        bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
      // A body in a file that never comes.
      default: bytes = try hello().bytes + [0, 0, 0, 0, 3, 1, 0, 0] + [UInt8](repeating: 1, count: 16)
      }
      let sent = unsafe bytes.withUnsafeBytes { unsafe cstore_send(socket.descriptor, $0.baseAddress, $0.count, -1) }
      #expect(sent == bytes.count)
      if round % 4 != 2 { #expect(try await frames(.max, from: socket).isOpen == false) }
    }
    #expect(try await owner.get("a") == Data("x".utf8))
    let guest = try open(apart: true)
    #expect(try await guest.get("a") == Data("x".utf8))
    #expect(try await owner.verify().isSound)
  }

  @Test("P15 a file that is none, or shorter or longer than may be, is not read")
  func foreignFiles() async throws {
    let owner = try open()
    for kind in 0..<4 {
      let socket = try connect()
      socket.send(try hello())
      #expect(try await frames(1, from: socket).frames.first?.kind == StoreReply.welcome)
      var ends: [Int32] = [-1, -1]
      #expect(unsafe cstore_pipe(&ends) == 0)
      let made = cstore_nameless_file()
      let (given, length): (Int32, UInt64) =
        switch kind {
        case 0: (ends[0], 100_000)
        case 1: (made, 100_000)
        case 2: (made, 1 << 40)
        default: (unsafe Foundation.open("/dev/zero", O_RDONLY), 100_000)
        }
      if kind == 2 { #expect(ftruncate(made, 1 << 40) == 0) }
      var head = ByteWriter()
      head.put(UInt32(0))
      head.bytes += [3, SharedFrame.inFile, 0, 0]
      head.put(UInt64(1))
      head.put(length)
      let sent = unsafe head.bytes.withUnsafeBytes {
        unsafe cstore_send(socket.descriptor, $0.baseAddress, $0.count, given)
      }
      #expect(sent == SharedFrame.headSize)
      #expect(try await frames(.max, from: socket).isOpen == false)
      for descriptor in ends + [made] { close(descriptor) }
    }
    #expect(try await owner.contents().isEmpty)
  }

  @Test("a program that speaks another version is told, by the owner and of the owner")
  func versions() async throws {
    let owner = try open()
    let socket = try connect()
    socket.send(try hello(9))
    let answer = try #require(try await frames(1, from: socket).frames.first)
    #expect(answer.kind == StoreReply.refused)
    let refusal = try StoreHello.readRefusal(try answer.load(limit: 0))
    #expect(refusal.code == .unusableStore)
    #expect(refusal.message.contains("version 1") && refusal.message.contains("version 9"))
    try await owner.close()
    // And an owner that does not know this version.
    let fake = try FakeOwner(folder.path) { socket, frame in
      guard frame.kind == StoreRequest.hello else { return }
      socket.send(try StoreHello.refusal(CacheError(.unusableStore, "speaks version 2")))
    }
    let error = #expect(throws: CacheError.self) { try open() }
    #expect(error?.code == .unusableStore)
    #expect(error?.message == "speaks version 2")
    fake.end()
  }

  @Test("P15 an owner that is silent makes misses and errors within the limit, and then at once; nothing hangs")
  func silence() async throws {
    let fake = try FakeOwner(folder.path) { socket, frame in
      if frame.kind == StoreRequest.hello { socket.send(try StoreHello.welcome(instance: 5)) }
    }
    let level = try open(silence: .seconds(5))
    let begin = ContinuousClock.now
    let set = Task { try await level.set(Data([1]), forKey: "a") }
    #expect(try await level.lookup("a").missReason == .unanswered)
    let error = await #expect(throws: CacheError.self) { try await set.value }
    #expect(error?.code == .timedOut)
    #expect(error?.message.contains("\(getpid())") == true)
    #expect(begin.duration(to: .now) < .seconds(60))
    #expect(level.owner == .nobody)
    #expect(try await level.get("a") == nil)
    #expect(try level.contains("a") == false)
    await #expect(throws: CacheError.self) { try await level.clear() }
    await #expect(throws: CacheError.self) { try await level.contents() }
    #expect(level.usage.count == 0)
    // It ends: this process owns the files now.
    fake.end()
    try await turns { level.owner == .thisProcess }
    try await level.set(Data([2]), forKey: "a")
    #expect(try await level.get("a") == Data([2]))
    try await level.close()
  }

  @Test("P15 a guest that was stopped itself asks before it takes its owner for silent", arguments: [false, true])
  func stoppedGuest(isAsking: Bool) throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe cstore_pair(&pair) == 0)
    close(pair[1])
    var state = CommonStore.State(
      role: .guest(FrameSocket(pair[0], wake: {}), process: 1, isWelcome: true), lastHeard: 0,
      usage: LevelUsage(count: 0, cost: 0, capacity: 1))
    state.isHearing = true
    state.ears[1] = (0, { @Sendable _ in })
    if isAsking { state.waitingSince = 0 }
    func isSilent(at time: Int64) -> Bool {
      _ = state.course(at: time, limit: 90)
      return state.isSilent
    }
    // It stood still for ten times the limit.
    #expect(!isSilent(at: 900))
    #expect(state.pingedAt == 900)
    #expect(!isSilent(at: 960))
    #expect(isSilent(at: 961))
    // Who was not stopped notices as soon as ever.
    (state.isSilent, state.pingedAt, state.lastHeard, state.isHearing) = (false, nil, 1_000, true)
    if isAsking { state.waitingSince = 1_000 }
    #expect(!isSilent(at: 1_030))
    #expect(state.pingedAt == nil)
    #expect(!isSilent(at: 1_031))
    #expect(!isSilent(at: 1_090))
    #expect(isSilent(at: 1_092))
  }

  @Test("P15 an owner that has let go of the files and lets nobody in is not waited for")
  func absence() async throws {
    let fake = try FakeOwner(folder.path) { socket, frame in
      if frame.kind == StoreRequest.hello { socket.send(try StoreHello.welcome(instance: 5)) }
    }
    let level = try open(silence: .milliseconds(500))
    #expect(level.owner == .process(getpid()))
    fake.turnAway()
    try await turns { fake.isKnockedAt }
    fake.letGo()
    try await turns { level.owner == .thisProcess }
    try await level.set(Data([2]), forKey: "a")
    #expect(try await level.get("a") == Data([2]))
    fake.end()
    try await level.close()
  }

  @Test("who is answered, at once or after a while, has heard what the owner told before", arguments: [false, true])
  func order(isLate: Bool) async throws {
    let asked = Mutex<(socket: FrameSocket, number: UInt64)?>(nil)
    @Sendable func answer(_ socket: FrameSocket, _ number: UInt64) throws {
      socket.send(try StoreChange.tagged("told \(number)").frame(from: 1))
      socket.send(try StoreReply.miss(.expired).frame(number: number))
    }
    let fake = try FakeOwner(folder.path) { socket, frame in
      if frame.kind == StoreRequest.hello { return socket.send(try StoreHello.welcome(instance: 5)) }
      var (origin, sent): (UInt64, Int64) = (0, 0)
      switch try StoreRequest(frame.kind, try frame.load(limit: 0), origin: &origin, sent: &sent) {
      case .get:
        if isLate { asked.withLock { $0 = (socket, frame.number) } } else { try answer(socket, frame.number) }
      default: socket.send(try StoreReply.count(0).frame(number: frame.number))
      }
    }
    let level = try open()
    let heard = Mutex<[String]>([])
    let stop = level.hear { change in
      if case .tag(let tag) = change { heard.withLock { $0.append(tag) } }
    }
    for round in 1...50 {
      async let reason = level.lookup("a").missReason
      if isLate {
        try await turns { asked.withLock { $0 != nil } }
        let (socket, number) = try #require(asked.withLock { $0.take() })
        try answer(socket, number)
      }
      #expect(try await reason == .expired)
      #expect(heard.withLock { Set($0).count } == round)
    }
    stop()
    fake.end()
    try await level.close()
  }

  @Test("what an owner sent that is gone is not taken for the next one's answer")
  func gone() throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe cstore_pair(&pair) == 0)
    let (near, far) = (FrameSocket(pair[0], wake: {}), FrameSocket(pair[1], wake: {}))
    far.send(try StoreReply.count(1).frame(number: 1))
    far.send(try StoreReply.count(2).frame(number: 2))
    var numbers: [UInt64] = []
    #expect(try near.receiveIfFree { numbers += $0.map(\.number) } == true)
    #expect(numbers == [1, 2])
    far.send(try StoreReply.count(3).frame(number: 3))
    near.endReceiving()
    #expect(try near.receiveIfFree { numbers += $0.map(\.number) } == nil)
    #expect(numbers == [1, 2])
  }

  @Test("P15 long values on their way leave most of the process's descriptors to others, and nothing is lost for that")
  func descriptors() {
    for most in [CommonStore.mostSent, StoreServer.mostGuests] {
      #expect((1...max(16, Int(cstore_descriptor_limit()) / 4)).contains(most))
    }
    var state = CommonStore.State(lastHeard: 0, usage: LevelUsage(count: 0, cost: 0, capacity: 1))
    state.unsent = Array(1...UInt64(CommonStore.mostSent + 5))
    for number in state.unsent { state.calls[number] = CommonStore.Call(request: .ping, origin: 0) { _ in } }
    #expect(state.sendable().count == CommonStore.mostSent)
    #expect(state.sendable() == [])
    state.sent -= 7
    #expect(state.sendable().count == 5)
    // What has been answered meanwhile is under way no more.
    state.unsent = [1]
    state.calls[1] = nil
    let sent = state.sent
    #expect(state.sendable() == [1] && state.sent == sent)
  }

  @Test("P15 after what cannot be read nothing more is, whoever receives")
  func brokenStream() throws {
    var pair: [Int32] = [-1, -1]
    try #require(unsafe cstore_pair(&pair) == 0)
    let (near, far) = (FrameSocket(pair[0], wake: {}), FrameSocket(pair[1], wake: {}))
    far.send(try StoreReply.count(1).frame(number: 1))
    #expect(throws: ProtocolViolation.self) { try near.receiveIfFree { _ in throw ProtocolViolation() } }
    far.send(try StoreReply.count(2).frame(number: 2))
    var numbers: [UInt64] = []
    #expect(try near.receive { numbers += $0.map(\.number) } == false)
    #expect(try near.receiveIfFree { numbers += $0.map(\.number) } == nil)
    #expect(numbers == [])
  }

  @Test("a directory that somebody has for itself is in use, also for who would share it")
  func exclusive() async throws {
    let fake = try FakeOwner(folder.path, listens: false) { _, _ in }
    let error = #expect(throws: CacheError.self) { try open(silence: .milliseconds(50)) }
    #expect(error?.code == .inUse)
    fake.end()
    try await open().close()
  }

  @Test("P15 a change that is sent again is carried out once")
  func twice() async throws {
    let owner = try open()
    func put(_ number: UInt64, _ byte: UInt8, again: Bool, if condition: StoreCondition? = nil) throws -> SharedFrame {
      try StoreRequest.put(
        StorePut(
          key: StoreKey(Array("a".utf8)), type: Array("data".utf8), created: SystemClock().now.nanoseconds,
          deadline: nil, cost: 1, tags: [], durability: .buffered, condition: condition, value: Data([byte]))
      ).frame(number: number, origin: 1, at: SystemClock().now.nanoseconds, isAgain: again)
    }
    func answer(_ frame: SharedFrame, instance: UInt64) async throws -> Int {
      let socket = try connect()
      socket.send(try hello(instance: instance))
      socket.send(frame)
      let reply = try #require(try await frames(2, from: socket).frames.last)
      guard case .count(let count) = try StoreReply(reply.kind, try reply.load(limit: 0)) else { return -1 }
      return count
    }
    let first = try put(1, 1, again: false, if: .absent)
    #expect(try await answer(first, instance: 7) == 1)
    #expect(try await answer(put(2, 2, again: false), instance: 7) == 1)
    // The answer was lost on the way, and a newer value stands there.
    #expect(try await answer(first, instance: 7) == 1)
    #expect(try await owner.get("a") == Data([2]))
    // The owner before may have carried it out, and the key was changed since.
    #expect(try await answer(put(3, 3, again: true), instance: 8) == 1)
    #expect(try await owner.get("a") == Data([2]))
    // Another process has the same numbers for other changes.
    #expect(try await answer(put(1, 4, again: false), instance: 8) == 1)
    #expect(try await owner.get("a") == Data([4]))
  }

  @Test("a request that comes too late is not carried out")
  func late() async throws {
    let owner = try open(silence: .seconds(1))
    let socket = try connect()
    socket.send(try hello())
    socket.send(
      try StoreRequest.remove(StoreKey([1]), .buffered).frame(
        number: 1, origin: 1, at: SystemClock().now.nanoseconds - 2_000_000_000, isAgain: false))
    let reply = try #require(try await frames(2, from: socket).frames.last)
    guard case .failed(let error) = try StoreReply(reply.kind, try reply.load(limit: 0)) else {
      Issue.record("it was carried out")
      return
    }
    #expect(error.code == .timedOut)
    try await owner.close()
  }

  @Test("who does not read its answers is not waited for")
  func deafPeer() async throws {
    let owner = try open(silence: .milliseconds(200))
    try await owner.set(Data(count: 60_000), forKey: "a")
    let socket = try connect()
    socket.send(try hello())
    // They come all at once, so that it is not broken off before the last of them is read; and who sent them does not give up.
    let now = SystemClock().now.nanoseconds
    let requests =
      Array(repeating: StoreRequest.get(StoreKey(Array("a".utf8)), includingExpired: false), count: 16)
      + [.remove(StoreKey(Array("a".utf8)), .buffered)]
    let bytes = try requests.enumerated().flatMap { number, request in
      try request.frame(number: UInt64(number), origin: 1, at: now + 3_600_000_000_000, isAgain: false).bytes
    }
    let sent = unsafe bytes.withUnsafeBytes { unsafe cstore_send(socket.descriptor, $0.baseAddress, $0.count, -1) }
    #expect(sent == bytes.count)
    try await turns { try await owner.get("a") == nil }
    try await owner.set(Data([1]), forKey: "a")
    #expect(try await owner.get("a") == Data([1]))
  }
}

/// Somebody who has the lock of a directory and does with its guests what a test says.
///
/// It has a thread of its own, as another process would: who opens the directory waits for it on one of Swift's.
final class FakeOwner: Sendable {
  private let lock: StoreFile
  private let listener: Mutex<StoreFile?>
  private let (poller, waker): (StoreFile, StoreFile)
  private let directory: StoreDirectory

  init(
    _ path: String, listens: Bool = true, _ answer: @escaping @Sendable (FrameSocket, SharedFrame) throws -> Void
  ) throws {
    let directory = try StoreDirectory(path, access: .readWrite, calls: FileCalls())
    self.directory = directory
    lock = try #require(try directory.takeLock())
    let listener = listens ? try SharedSocket.listen(in: directory) : nil
    self.listener = Mutex(listener)
    var pair: [Int32] = [-1, -1]
    try #require(unsafe cstore_pair(&pair) == 0)
    (poller, waker) = (StoreFile(pair[0]), StoreFile(pair[1]))
    guard let listener else { return }
    try OwnThread.start("fake-owner") { [poller] in
      var sockets: [FrameSocket] = []
      defer { for socket in sockets { socket.breakOff() } }
      while true {
        var polled = ([poller, listener].map(\.descriptor) + sockets.map(\.descriptor)).map {
          pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = unsafe poll(&polled, nfds_t(polled.count), -1)
        if polled[0].revents != 0 { return }
        let arrived = cstore_accept(listener.descriptor)
        if arrived >= 0 { sockets.append(FrameSocket(arrived, wake: {})) }
        sockets.removeAll { socket in
          do {
            return try !socket.receive { for frame in $0 { try answer(socket, frame) } }
          } catch { return true }
        }
      }
    }
  }

  /// Ends its connections and lets nobody in any more, though it listens still.
  func turnAway() {
    var byte: UInt8 = 1
    _ = unsafe cstore_send(waker.descriptor, &byte, 1, -1)
  }

  /// Whether somebody waits to be let in.
  var isKnockedAt: Bool {
    listener.withLock { listener in
      var polled = pollfd(fd: listener?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&polled, 1, 0) > 0
    }
  }

  func letGo() { lock.unlock() }

  /// As an owner ends: nobody finds the socket any more, and who was on the way in is sent back.
  func end() {
    let listened = listener.withLock { $0.take() }
    if listened != nil { SharedSocket.remove(in: directory) }
    turnAway()
    letGo()
  }
}

func cstoreConnect(_ path: String) -> Int32 { unsafe cstore_connect(path) }
