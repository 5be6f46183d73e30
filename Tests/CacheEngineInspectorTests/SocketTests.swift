import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheEngineInspector

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.timeLimit(.minutes(10))) struct SocketTests {
  private func refusal(at path: String) -> CacheError? {
    do {
      _ = try serveCache(Stack().cache, at: path)
      return nil
    } catch { return error as? CacheError }
  }

  private func permissions(of path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test("the socket and a directory that is made for it are the owner's alone")
  func permissions() throws {
    let folder = try SocketFolder()
    let server = try serveCache(Stack().cache, at: "\(folder.path)/run/cache.sock")
    #expect(try permissions(of: server.path) == 0o600)
    #expect(try permissions(of: "\(folder.path)/run") == 0o700)
  }

  @Test("a directory that others may write to, or that belongs to somebody else, is refused")
  func foreignDirectory() throws {
    let folder = try SocketFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    let open = refusal(at: folder.socket)
    #expect(open?.code == .unusableSocket)
    #expect(open?.message.contains("take that right away with chmod go-w") == true)
    // The name makes one character with the slash before it.
    #expect(refusal(at: "\(folder.path)/\u{301}")?.message.hasPrefix("\(folder.path) cannot be used") == true)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    guard geteuid() == 0 else { return }
    #expect(unsafe chown(folder.path, 65_534, 65_534) == 0)
    #expect(refusal(at: folder.socket)?.message.contains("it belongs to user 65534") == true)
  }

  @Test("a path that no socket's address can hold is refused with its length")
  func longPath() throws {
    let folder = try SocketFolder()
    let path = folder.path + "/" + String(repeating: "a", count: 120)
    let message = try #require(refusal(at: path)?.message)
    #expect(message.contains("it has \(path.utf8.count) bytes and a socket's path may have \(UnixSocket.longestPath)"))
    #expect(refusal(at: "") != nil)
    #expect(refusal(at: "\(folder.path)/a\u{0}b") != nil)
  }

  @Test("a socket that is served is not taken away, one that was left behind is replaced, and a file is left alone")
  func stale() async throws {
    let folder = try SocketFolder()
    var first: InspectorServer? = try serveCache(Stack().cache, at: folder.socket)
    let refused = refusal(at: folder.socket)
    #expect(refused?.code == .inUse)
    #expect(refused?.message.contains("end it or choose another path") == true)
    _ = try await Visitor(folder.socket)
    first = nil
    #expect(first == nil)

    // As a process leaves it that is killed: bound, and nobody listens.
    do {
      let left = try UnixSocket.listen(at: folder.socket)
      withExtendedLifetime(left) {}
    }
    #expect(FileManager.default.fileExists(atPath: folder.socket))
    await #expect(throws: CacheError.self) { _ = try await Visitor(folder.socket) }
    let second = try serveCache(Stack().cache, at: folder.socket)
    _ = try await Visitor(folder.socket)
    second.close()

    try Data("mine".utf8).write(to: URL(filePath: folder.socket))
    #expect(refusal(at: folder.socket)?.message.contains("something else is there, which is left alone") == true)
    #expect(try Data(contentsOf: URL(filePath: folder.socket)) == Data("mine".utf8))
  }

  @Test("who closes late does not remove the socket of a successor")
  func successor() async throws {
    let folder = try SocketFolder()
    let first = try serveCache(Stack().cache, at: folder.socket)
    try FileManager.default.removeItem(atPath: folder.socket)
    let second = try serveCache(Stack().cache, at: folder.socket)
    first.close()
    #expect(FileManager.default.fileExists(atPath: folder.socket))
    _ = try await Visitor(folder.socket)
    withExtendedLifetime(second) {}
  }

  @Test("a socket whose path is told from the working directory on is found from every other one")
  func relative() throws {
    let folder = try SocketFolder()
    let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
    let path = String(repeating: "../", count: depth) + folder.socket.dropFirst()
    let listener = try UnixSocket.listen(at: path)
    let real = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    #expect(listener.path.hasPrefix("/") && listener.path.hasSuffix("\(folder.path)/\(real)"))
    UnixSocket.removeFile(of: listener)
    #expect(!FileManager.default.fileExists(atPath: folder.socket))
  }

  @Test("who asks an app that takes nothing holds no thread, and what was asked arrives when it takes something")
  func unread() async throws {
    let folder = try SocketFolder()
    let listener = try UnixSocket.listen(at: folder.socket)
    let near = try await Visitor.elsewhere { [path = folder.socket] in
      try UnixSocket.connect(to: path, waiting: .seconds(60))
    }
    guard case .somebody(let far) = UnixSocket.accept(from: listener) else {
      throw CacheError(.unreachable, "nobody came")
    }
    let welcome = ServerLine.Welcome(
      version: 1, app: "app", pid: 1, allowsWrites: true, tellsEvents: false, tellsCounts: true, now: 0, wall: 0,
      levels: [], operators: [], chain: [])
    #expect(far.writeAll(Wire.bytes(ServerLine(welcome: welcome))))
    let client = try InspectorClient.greet(over: near, path: folder.socket, as: "test", versions: .current) { _ in }
    // Longer than anybody is let run.
    var time = timeval(tv_sec: 600, tv_usec: 0)
    unsafe setsockopt(near.number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    var ask = ClientLine.Ask(.set, key: "a")
    ask.value = Data(count: 1 << 20)
    let isBack = Mutex(false)
    let asking = Task { [ask] in
      await #expect(throws: CancellationError.self) { _ = try await client.ask(ask) }
      isBack.withLock { $0 = true }
    }
    var (reader, lines, buffer) = (LineReader(), 0, [UInt8](repeating: 0, count: 4_096))
    func take() throws {
      guard case .moved(let count) = far.read(into: &buffer) else { return }
      lines += try reader.take(buffer[..<count], limit: WireLimits.line).count
    }
    try await turns {
      try take()
      return lines == 1 && reader.pending > 0
    }
    asking.cancel()
    try await turns { isBack.withLock { $0 } }
    try await turns {
      try take()
      return lines == 2
    }
    client.close()
  }

  @Test("where there is nothing to attach to, the error says so")
  func nothing() async throws {
    let folder = try SocketFolder()
    do {
      _ = try await Visitor(folder.socket)
      Issue.record("there was somebody")
    } catch let error as CacheError {
      #expect(error.code == .unreachable)
      #expect(error.message.contains("there is no socket at \(folder.socket)"))
    }
  }

  @Test("a file that is no socket is named as that, not as an app that has ended")
  func ordinaryFile() async throws {
    let folder = try SocketFolder()
    try Data().write(to: URL(filePath: folder.socket))
    let error = await #expect(throws: CacheError.self) { _ = try await Visitor(folder.socket) }
    #expect(error?.code == .unusableSocket)
    #expect(error?.message == "\(folder.socket) is no socket; name the one that the app serves")
  }

  @Test("many ask, write, come and go at once, and the cache answers as ever")
  func concurrency() async throws {
    let folder = try SocketFolder()
    let stack = Stack(capacity: 256)
    let server = try serveCache(stack.cache, at: folder.socket, allowsWrites: true)
    let path = folder.socket
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for number in 0..<2_000 {
            let key = "\(worker):\(number % 50)"
            let value = try await stack.cache.get(key)
            #expect(value == Data("value of \(key)".utf8))
            if number % 10 == 0 { try await stack.cache.remove(key) }
          }
        }
      }
      for visitor in 0..<3 {
        group.addTask {
          for round in 0..<10 {
            let client = try await Visitor(path)
            for number in 0..<20 {
              let answer = try await client.ask(.get, key: "v\(visitor):\(number)")
              #expect(answer.outcome == "hit")
            }
            if round % 2 == 0 { client.client.close() }
          }
        }
      }
      try await group.waitForAll()
    }
    try await turns { server.attachedCount == 0 }
    #expect(stack.inspector.attention?.isOn == false)
  }
}
