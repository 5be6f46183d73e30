import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineInspector

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Nobody is waited for without an end, nothing is done over and over in vain, and no line is longer than is allowed.
@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
  private let terms = InspectorLoop.Terms(
    name: "app", allowsWrites: false, versions: .current, patience: .seconds(5))

  /// A room that is served by nobody but the test, and the other end of the connection of somebody who was let in.
  private func room(at path: String) throws -> (InspectorLoop.Room, Descriptor) {
    let loop = try InspectorLoop(InspectedCache(Stack().cache), at: path, terms: terms)
    var room = InspectorLoop.Room(loop: loop)
    let (inside, outside) = try UnixSocket.pair()
    var arrivals: [UnixSocket.Arrival] = [.nobody, .somebody(inside)]
    room.welcomeAll { arrivals.popLast() ?? .nobody }
    #expect(room.connections.count == 1)
    return (room, outside)
  }

  private func greet(_ room: inout InspectorLoop.Room, _ outside: Descriptor) throws -> UInt64 {
    let hello = ClientLine(hello: ClientLine.Hello(versions: .current, client: "test"))
    #expect(outside.writeAll(Wire.bytes(hello)))
    let id = try #require(room.connections.keys.first)
    room.serve(id, isGone: false)
    return id
  }

  @Test("where no descriptor is left to wake the thread by, no socket is left behind")
  func noPair() throws {
    let folder = try SocketFolder()
    #expect(throws: CacheError.self) {
      _ = try InspectorLoop(InspectedCache(Stack().cache), at: folder.socket, terms: terms) {
        throw CacheError(.simulated, "no descriptor is left")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.socket))
  }

  @Test("where no descriptor is left for who comes, nobody is let in for a second, and then they are")
  func noRoom() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    for code in [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNRESET, EPERM] {
      guard case .noRoom = UnixSocket.arrival(code) else { throw CacheError(.simulated, "\(code)") }
    }
    guard case .nobody = UnixSocket.arrival(EAGAIN) else { throw CacheError(.simulated, "EAGAIN") }
    var asked = 0
    room.welcomeAll {
      asked += 1
      return .noRoom
    }
    #expect(asked == 1)
    #expect(room.isClosed)
    #expect((0...1_000).contains(room.timeout))
    room.tell()
    #expect(room.isClosed)
    room.tell(at: .now + InspectorLoop.pause)
    #expect(!room.isClosed)
    withExtendedLifetime(outside) {}
  }

  @Test("who hung up while they waited, or a signal, keeps nobody else out", arguments: [ECONNABORTED, EINTR])
  func goneAgain(code: Int32) throws {
    let folder = try SocketFolder()
    let listener = try UnixSocket.listen(at: folder.socket)
    var asked = 0
    func arrival(after count: Int) -> UnixSocket.Arrival {
      asked = 0
      return UnixSocket.accept(from: listener) { _ in
        asked += 1
        errno = asked > count ? EAGAIN : code
        return -1
      }
    }
    guard case .nobody = arrival(after: 3) else { throw CacheError(.simulated, "it rests") }
    #expect(asked == 4)
    guard case .noRoom = arrival(after: .max) else { throw CacheError(.simulated, "it does not rest") }
    #expect(asked == 64)
  }

  @Test("a socket whose process is stopped is in use, and neither who serves nor who looks waits for it without an end")
  func stoppedProcess() async throws {
    let folder = try SocketFolder()
    let stopped = try UnixSocket.listen(at: folder.socket)
    var queued: [Descriptor] = []
    while true {
      do { queued.append(try UnixSocket.connect(to: folder.socket, waiting: .never)) } catch let error as CacheError {
        #expect(error.code == .timedOut)
        break
      }
    }
    let error = #expect(throws: CacheError.self) { try CacheInspector.serve(Stack().cache, at: folder.socket) }
    #expect(error?.code == .inUse)
    let path = folder.socket
    let looking = await #expect(throws: CacheError.self) {
      try await Visitor.elsewhere { _ = try UnixSocket.connect(to: path, waiting: .seconds(1)) }
    }
    #expect(looking?.code == .timedOut)
    withExtendedLifetime((stopped, queued)) {}
  }

  @Test("somebody who is stopped with the lock of the directory is named and not waited for")
  func stoppedWithLock() throws {
    let folder = try SocketFolder()
    let held = Descriptor(unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    #expect(flock(held.number, LOCK_EX) == 0)
    let error = #expect(throws: CacheError.self) { try UnixSocket.listen(at: folder.socket, attempts: 2) }
    #expect(error?.code == .inUse)
    #expect(flock(held.number, LOCK_UN) == 0)
    _ = try UnixSocket.listen(at: folder.socket, attempts: 2)
  }

  @Test(
    "who leaves lying what was sent gives up the place, however little is taken meanwhile; who takes it all keeps it")
  func slowReader() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    let id = try greet(&room, outside)
    let line = [UInt8](repeating: 0x20, count: 3 << 20)
    room.connections[id]?.send(line)
    room.serve(id, isGone: false)
    #expect(room.connections[id]?.wantsToWrite == true)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    for _ in 0..<5 {
      _ = outside.read(into: &buffer)
      room.serve(id, isGone: false)
    }
    room.tell(at: .now + .seconds(20))
    #expect(room.connections.count == 1)
    while room.connections[id]?.wantsToWrite == true {
      _ = outside.read(into: &buffer)
      room.serve(id, isGone: false)
    }
    room.tell(at: .now + .seconds(1_000))
    #expect(room.connections.count == 1)

    while case .moved = outside.read(into: &buffer) {}
    room.connections[id]?.send(line)
    room.serve(id, isGone: false)
    _ = outside.read(into: &buffer)
    room.serve(id, isGone: false)
    room.tell(at: .now + .seconds(31))
    #expect(room.connections.count == 0)
  }

  @Test("who was refused and does not take the refusal is let go as well")
  func refusedAndSilent() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    let id = try greet(&room, outside)
    room.connections[id]?.send([UInt8](repeating: 0x20, count: 3 << 20))
    room.connections[id]?.refuse(ServerLine.Refusal(code: "line", message: "no"))
    room.serve(id, isGone: false)
    #expect(room.connections.count == 1)
    #expect(room.timeout >= 0)
    room.tell(at: .now + .seconds(31))
    #expect(room.connections.count == 0)
  }

  @Test("who hangs up while as many questions are under way as may be is let go at once")
  func hungUpWhileAsking() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    let id = try greet(&room, outside)
    let gate = Gate()
    let asks = (0..<Connection.mostAsks).map { _ in Task { _ = try? await gate.pass() } }
    for (number, task) in asks.enumerated() { room.connections[id]?.asks[number] = task }
    #expect(room.connections[id]?.wantsToRead == false)
    room.serve(id, isGone: true)
    #expect(room.connections.count == 0)
    let areCancelled = asks.allSatisfy(\.isCancelled)
    #expect(areCancelled)
  }

  @Test("a question with the number of one that is under way ends the connection")
  func repeatedNumber() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    let id = try greet(&room, outside)
    var ask = ClientLine.Ask(.get, key: "a")
    ask.id = 7
    room.connections[id]?.asks[7] = Task {}
    #expect(outside.writeAll(Wire.bytes(ClientLine(ask: ask))))
    room.serve(id, isGone: false)
    #expect(room.connections.count == 0)
  }

  @Test("a list is not gone on with for another level")
  func anotherList() throws {
    let folder = try SocketFolder()
    var (room, outside) = try room(at: folder.socket)
    let id = try greet(&room, outside)
    let entries = (0..<3).map { ServerLine.Entry(key: "\($0)", cost: 1, created: 0) }
    room.connections[id]?.listing = ("memory", entries)
    for (level, isGivenRest) in [("source", false), ("memory", true)] {
      var ask = ClientLine.Ask(.entries, level: level)
      ask.from = 1
      #expect(outside.writeAll(Wire.bytes(ClientLine(ask: ask))))
      room.serve(id, isGone: false)
      // What has been given to its end is forgotten.
      #expect((room.connections[id]?.listing == nil) == isGivenRest)
    }
  }

  @Test("entries, events and answers with long keys come in lines that the other side takes")
  func longKeys() async throws {
    let folder = try SocketFolder()
    let stack = Stack(memory: 1 << 30)
    let server = try serveCache(stack.cache, at: folder.socket)
    let visitor = try await Visitor(folder.socket)
    // Each of these takes six bytes in JSON.
    let keys = (0..<80).map { String(repeating: "\u{1}", count: 16_000) + "\($0)" }
    for key in keys {
      try await stack.memory.set(Data([1]), forKey: key)
      stack.inspector.record(CacheEvent(time: CacheInstant(nanoseconds: 1), key: key, kind: .lookupBegan))
    }
    await visitor.wait { $0.events.count == 80 || $0.ending != nil }
    #expect(visitor.told.events.map { $0.key?.suffix(5) } == keys.map { $0.suffix(5) })
    var ask = ClientLine.Ask(.entries, level: "memory")
    var listed: Set<String> = []
    while true {
      let answer = try await visitor.client.ask(ask)
      listed.formUnion((answer.entries ?? []).map(\.key))
      guard let next = answer.next else { break }
      ask.from = next
    }
    #expect(listed.subtracting(keys).count == 0 && listed.count == keys.count)
    #expect(visitor.told.ending == nil)
    withExtendedLifetime(server) {}
  }

  @Test("numbers that no app could have counted are told as the nearest that one could")
  func absurdNumbers() throws {
    let words = [
      "hit", "stored", "filled", "removed", "warning", "flightJoined", "flightLeft", "flightEnded", "queued", "retried",
      "timedOut", "refreshEnded",
    ]
    for number in ["9223372036854775807", "-9223372036854775808"] {
      for word in words {
        let line = """
          {"what":"\(word)","time":\(number),"took":\(number),"cost":\(number),"deadline":\(number),"callers":\(number),\
          "dropped":\(number),"running":\(number),"waiting":\(number),"attempt":\(number),"cause":"expired"}
          """
        let event = try #require(try Wire.read(WireEvent.self, from: Array(line.utf8)).event)
        let statistics = CacheStatistics()
        for _ in 0..<3 { statistics.record(event) }
        let told = WireEvent(event)
        let numbers = [told.cost, told.callers, told.dropped, told.running, told.waiting, told.attempt].compactMap(
          \.self)
        #expect(numbers.allSatisfy((0...WireLimits.count).contains), "\(told)")
        #expect((0...Int64(WireLimits.count)).contains(told.took ?? 0), "\(told)")
      }
    }
    #expect(WireLimits.counted(.min) == 0 && WireLimits.counted(.max) == WireLimits.count)
  }

  @Test("an app that greets without an end is given up")
  func endlessGreeting() throws {
    let (inside, outside) = try UnixSocket.pair()
    #expect(inside.writeAll([UInt8](repeating: 0x20, count: 1_000)))
    let error = #expect(throws: CacheError.self) {
      try InspectorClient.greet(
        over: outside, path: "here", as: "test", versions: .current, patience: .zero, tell: { _ in })
    }
    #expect(error?.code == .timedOut)
  }
}
