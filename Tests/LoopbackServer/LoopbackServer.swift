public import Foundation
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1 for tests, on threads of its own, which misbehaves on demand.
///
/// It answers, in this order: values set with ``setValue(_:forPath:)``, the scripts of ``LoopbackScript`` under
/// `/-/`, and files below the directory given. It counts what it is asked, and can hold its answers back until a test
/// has staged what it wants to see.
///
/// ```swift
/// let server = try LoopbackServer()
/// defer { server.stop() }
/// server.setValue(Data("hello".utf8), forPath: "/greeting")
/// ```
public final class LoopbackServer: Sendable {
  /// A request as it arrived.
  public struct Request: Sendable {
    /// The target of the request line, as `/a?b=c`, not decoded.
    public var target: String
    /// The header fields, names in lower case.
    public var headers: [String: String]
    /// The number of the connection that it came over; the first has 1.
    public var connection: Int
  }

  private struct State {
    var values: [String: Data] = [:]
    var requests: [Request] = []
    var connections = 0
    var disconnects = 0
    var isHolding = false
    var isStopped = false
    var open: Set<Int32> = []
    var nextWaiter = 0
    var waiters: [Int: Waiter] = [:]
  }

  private struct Waiter {
    let condition: Condition
    let continuation: CheckedContinuation<Void, any Error>
  }

  private enum Condition: Sendable {
    case requests(Int, path: String?)
    case disconnects(Int)

    func holds(in state: borrowing State) -> Bool {
      switch self {
      case .requests(let count, nil): state.requests.count >= count
      case .requests(let count, let path?): state.requests.count { $0.target == path } >= count
      case .disconnects(let count): state.disconnects >= count
      }
    }
  }

  /// The port, chosen by the system.
  public let port: Int
  private let files: URL?
  private let listener: LoopbackSocket
  private let stopSignal: LoopbackPipe
  private let state = Mutex(State())
  private let acceptEnded = DispatchSemaphore(value: 0)

  /// Starts a server on a free port.
  ///
  /// - Parameter files: The directory whose files are served; `nil` for none.
  /// - Throws: `POSIXError` if no port can be had.
  public init(files: URL? = nil) throws {
    self.files = files?.standardizedFileURL
    stopSignal = try LoopbackPipe()
    (listener, port) = try LoopbackSocket.listen()
    Thread.detachNewThread { [self] in accept() }
  }

  /// Stops the server: connections are closed, and further ones refused.
  ///
  /// May be called again.
  public func stop() {
    let wasStopped = state.withLock { state in
      defer { state.isStopped = true }
      for descriptor in state.open { LoopbackSocket(descriptor: descriptor).shutDown() }
      return state.isStopped
    }
    guard !wasStopped else { return }
    stopSignal.signal()
    // The thread only has to close its listener.
    acceptEnded.wait()
  }

  /// The server's address without a path, as `http://127.0.0.1:40123`.
  public var address: String { "http://127.0.0.1:\(port)" }

  /// The URL of a path on this server.
  ///
  /// - Parameter path: The path, beginning with a slash, percent-encoded.
  /// - Returns: The URL.
  public func url(_ path: String) -> URL {
    guard let url = URL(string: address + path) else { preconditionFailure("\(path) is not a path of a URL") }
    return url
  }

  /// Serves a value at a path.
  ///
  /// - Parameters:
  ///   - value: The body; `nil` to serve nothing there any more.
  ///   - path: The path, beginning with a slash, as it stands in the request line.
  public func setValue(_ value: Data?, forPath path: String) {
    state.withLock { $0.values[path] = value }
  }

  /// Holds every answer back from now on, until ``release()``.
  public func hold() { state.withLock { $0.isHolding = true } }

  /// Lets the answers go that were held back.
  public func release() { state.withLock { $0.isHolding = false } }

  /// Every request so far, in the order of arrival.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// How many requests there were for a target.
  ///
  /// - Parameter target: The target as it stands in the request line; `nil` for all requests.
  /// - Returns: The number of requests.
  public func requestCount(_ target: String? = nil) -> Int {
    state.withLock { state in state.requests.count { target == nil || $0.target == target } }
  }

  /// How many connections were accepted so far.
  public var connectionCount: Int { state.withLock { $0.connections } }

  /// Waits until so many requests have arrived since the start.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - target: Counts only those for this target; `nil` for all.
  /// - Throws: `CancellationError` if the task is cancelled first.
  public func waitForRequests(_ count: Int, target: String? = nil) async throws {
    try await wait(for: .requests(count, path: target))
  }

  /// Waits until so many clients have gone away before their answer was complete.
  ///
  /// - Parameter count: How many since the start.
  /// - Throws: `CancellationError` if the task is cancelled first.
  public func waitForDisconnects(_ count: Int) async throws {
    try await wait(for: .disconnects(count))
  }

  private func wait(for condition: Condition) async throws {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let holds = state.withLock { state in
          if condition.holds(in: state) { return true }
          state.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return false
        }
        if holds { continuation.resume() }
        // A cancellation that came before the waiter was noted found nobody to wake.
        if Task.isCancelled { cancelWait(id) }
      }
    } onCancel: {
      cancelWait(id)
    }
  }

  private func cancelWait(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
  }

  private func note(_ change: (inout sending State) -> Void) {
    let woken = state.withLock { state in
      change(&state)
      let ready = state.waiters.filter { $0.value.condition.holds(in: state) }
      for id in ready.keys { state.waiters[id] = nil }
      return ready.values.map(\.continuation)
    }
    for waiter in woken { waiter.resume() }
  }

  // MARK: Threads

  private func accept() {
    while listener.waitUntilReadable(orEndOf: stopSignal) {
      guard let socket = listener.accept() else { continue }
      let number = state.withLock { state -> Int? in
        guard !state.isStopped else { return nil }
        state.open.insert(socket.descriptor)
        state.connections += 1
        return state.connections
      }
      guard let number else {
        socket.close()
        break
      }
      Thread.detachNewThread { [self] in serve(socket, number: number) }
    }
    listener.close()
    stopSignal.close()
    acceptEnded.signal()
  }

  private func serve(_ socket: LoopbackSocket, number: Int) {
    var reader = LoopbackReader(socket: socket)
    while let (target, headers) = reader.nextRequest() {
      let request = Request(target: target, headers: headers, connection: number)
      note { $0.requests.append(request) }
      let outcome = waitForGate(socket) ? answer(request, on: socket) : .clientLeft
      if outcome == .clientLeft, !state.withLock({ $0.isStopped }) { note { $0.disconnects += 1 } }
      if outcome != .keepAlive { break }
    }
    // Under the lock, so that nobody shuts down a descriptor that is somebody else's by then.
    state.withLock { state in
      state.open.remove(socket.descriptor)
      socket.close()
    }
  }

  /// Waits while answers are held back.
  ///
  /// - Returns: Whether the client is still there.
  private func waitForGate(_ socket: LoopbackSocket) -> Bool {
    while state.withLock({ $0.isHolding && !$0.isStopped }) {
      if socket.hasClientLeft(within: .milliseconds(2)) { return false }
    }
    return true
  }

  private func answer(_ request: Request, on socket: LoopbackSocket) -> LoopbackScript.Outcome {
    if let value = state.withLock({ $0.values[request.target] }) { return socket.send(body: value) }
    if request.target.hasPrefix("/-/") {
      return LoopbackScript(request: request, address: address).run(on: socket)
    }
    // As old as a file is, so that a cache may keep it for a while.
    if let file = file(for: request.target) {
      return socket.send("Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n", body: file)
    }
    return socket.send(status: 404, body: Data("nothing here\n".utf8))
  }

  private func file(for target: String) -> Data? {
    guard let files, let path = target.prefix(while: { $0 != "?" }).removingPercentEncoding,
      !path.split(separator: "/").contains(".."), !path.utf8.contains(0)
    else { return nil }
    let file = files.appendingPathComponent(path).standardizedFileURL
    guard file.path.hasPrefix(files.path + "/"), let data = FileManager.default.contents(atPath: file.path) else {
      return nil
    }
    return data
  }
}
