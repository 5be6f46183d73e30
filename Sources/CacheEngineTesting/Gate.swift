import Synchronization

/// Stops tasks at a point of a test until the test lets them go on.
///
/// ```swift
/// let gate = Gate()
/// let level = ScriptedLevel<String, Int> { _ in try await gate.pass(); return .hit(Entry(1)) }
/// async let value = level.get("a")
/// await gate.arrivals(1)   // the level is being asked now
/// gate.open()
/// ```
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var nextID = 0
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Creates a closed gate.
  public init() {}

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError` if the task is cancelled while it waits.
  public func pass() async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isOpen, watchers) = state.withLock { state in
          state.arrived += 1
          let arrived = state.arrived
          let ready = state.watchers.filter { $0.count <= arrived }.map(\.continuation)
          state.watchers.removeAll { $0.count <= arrived }
          if !state.isOpen { state.waiting[id] = continuation }
          return (state.isOpen, ready)
        }
        if isOpen { continuation.resume() }
        for watcher in watchers { watcher.resume() }
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
  }

  /// Opens the gate for good, for those who wait, in the order in which they came, and for those who come.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until so many tasks have come to the gate since it was made.
  ///
  /// - Parameter count: How many.
  public func arrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.arrived >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  private func leave(_ id: Int) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
  }
}
