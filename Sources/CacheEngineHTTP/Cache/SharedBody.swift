#if HTTP
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Content that arrives once and is read by several readers, who may join while it arrives.
///
/// All of it is held up to a bound, so that it can be stored and so that a late reader starts at its beginning. Beyond the bound it
/// is only passed through: nobody new may join, what everyone has read is released, and the source waits for the slowest.
/// When the last reader leaves, the source is released.
final class SharedBody: Sendable {
  private struct State {
    var chunks: [Data] = []
    /// How many chunks were released before those.
    var dropped = 0
    var heldBytes = 0
    var totalBytes = 0
    var isHeldWhole = true
    var nextReader = 0
    /// Where each reader is, counted from the first chunk of all.
    var readers: [Int: Int] = [:]
    var waiting: [Int: CheckedContinuation<HTTPBody.Part?, any Error>] = [:]
    var readTrailers: Set<Int> = []
    var end: Result<HTTPFields, any Error>?
    var room: CheckedContinuation<Void, Never>?
    var pump: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let bound: Int
  /// How long it is, if that is known.
  let length: Int?

  /// Prepares to read a content.
  ///
  /// - Parameters:
  ///   - length: How long it is, if that is known.
  ///   - bound: The most bytes that are held.
  init(length: Int?, bound: Int) {
    self.length = length
    self.bound = bound
  }

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - source: The content. It is read by a task that ends with it, or when nobody reads any more.
  ///   - whole: Told of all of it, before the last reader can see its end, if it was no longer than the bound.
  ///   - ended: Told that there is nothing more to join, before any reader can see the end: whoever sees it and asks again joins
  ///     nothing that is over.
  func start(
    _ source: HTTPBody, whole: @escaping @Sendable (Data, HTTPFields) async -> Void,
    ended: @escaping @Sendable () -> Void
  ) {
    let pump = Task { [self] in
      let end: Result<(trailers: HTTPFields, last: Data?), any Error>
      do { end = .success(try await self.pump(source, whole: whole)) } catch { end = .failure(error) }
      ended()
      if let last = try? end.get().last { await give(last) }
      finish(end.map(\.trailers))
    }
    let isLate = state.withLock { state in
      state.pump = pump
      return state.end == nil && state.readers.isEmpty
    }
    if isLate { pump.cancel() }
  }

  /// Lets somebody read from the beginning.
  ///
  /// - Returns: What they read; `nil` if the beginning is not there any more, or the content broke off.
  func join() -> HTTPBody? {
    let id = state.withLock { state -> Int? in
      guard state.isHeldWhole else { return nil }
      if case .failure = state.end { return nil }
      state.nextReader += 1
      state.readers[state.nextReader] = 0
      return state.nextReader
    }
    guard let id else { return nil }
    let place = Place(id: id, body: self)
    return HTTPBody(length: length) { try await place.body.next(for: place.id) }
  }

  /// Waits until all of it is there.
  ///
  /// - Returns: How long it is; `nil` if it broke off, or is too long to be held.
  func arrival() async throws -> Int? {
    guard let reader = join() else { return nil }
    var count = 0
    do {
      for try await case .bytes(let bytes) in reader {
        count += bytes.count
        if count > bound { return nil }
      }
    } catch {
      try Task.checkCancellation()
      return nil
    }
    return count
  }

  /// Leaves with its last holder.
  private final class Place: Sendable {
    let id: Int
    let body: SharedBody

    init(id: Int, body: SharedBody) {
      self.id = id
      self.body = body
    }

    deinit { body.leave(id) }
  }

  /// Reads the content, all but the chunk that shows its end.
  private func pump(
    _ source: HTTPBody, whole: @Sendable (Data, HTTPFields) async -> Void
  ) async throws -> (trailers: HTTPFields, last: Data?) {
    var iterator = source.makeAsyncIterator()
    var trailers = HTTPFields()
    var total = 0
    // The chunk that makes the announced length full shows a reader the end: it is held back until all is stored.
    var last: Data?
    while let part = try await iterator.next() {
      switch part {
      case .trailers(let fields): trailers = fields
      case .bytes(let bytes):
        if let last { await give(last) }
        last = nil
        total += bytes.count
        if let length, total > length { throw CacheFailure.cutShort }
        if total == length { last = bytes } else { await give(bytes) }
      }
      try Task.checkCancellation()
    }
    guard length == nil || length == total else { throw CacheFailure.cutShort }
    if total <= bound {
      var content = state.withLock { $0.chunks }
      if let last { content.append(last) }
      await whole(
        content.count == 1 ? content[0] : content.reduce(into: Data(capacity: total)) { $0.append($1) }, trailers)
    }
    return (trailers, last)
  }

  private func give(_ bytes: Data) async {
    let waiting = state.withLock { state in
      state.chunks.append(bytes)
      state.heldBytes += bytes.count
      state.totalBytes += bytes.count
      if state.totalBytes > bound { state.isHeldWhole = false }
      return Self.serve(&state)
    }
    for (continuation, part) in waiting { continuation.resume(returning: part) }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasRoom = state.withLock { state in
          if state.isHeldWhole || state.heldBytes <= bound || state.readers.isEmpty { return true }
          state.room = continuation
          return false
        }
        if hasRoom { continuation.resume() }
      }
    } onCancel: {
      takeRoom()?.resume()
    }
  }

  private func takeRoom() -> CheckedContinuation<Void, Never>? {
    state.withLock { state in
      defer { state.room = nil }
      return state.room
    }
  }

  private func next(for id: Int) async throws -> HTTPBody.Part? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enum Turn {
          case now(Result<HTTPBody.Part?, any Error>, CheckedContinuation<Void, Never>?)
          case later
        }
        let turn = state.withLock { state -> Turn in
          if Task.isCancelled { return .now(.failure(CancellationError()), nil) }
          if let part = Self.take(id, &state) { return .now(part, Self.room(&state, bound)) }
          state.waiting[id] = continuation
          return .later
        }
        guard case .now(let part, let room) = turn else { return }
        room?.resume()
        continuation.resume(with: part)
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
  }

  private func finish(_ end: Result<HTTPFields, any Error>) {
    let waiting = state.withLock { state in
      state.end = end
      state.pump = nil
      var served: [(CheckedContinuation<HTTPBody.Part?, any Error>, Result<HTTPBody.Part?, any Error>)] = []
      for id in state.waiting.keys.sorted() {
        if let part = Self.take(id, &state), let continuation = state.waiting.removeValue(forKey: id) {
          served.append((continuation, part))
        }
      }
      return served
    }
    for (continuation, part) in waiting { continuation.resume(with: part) }
  }

  private func leave(_ id: Int) {
    let (room, pump) = state.withLock { state in
      state.readers[id] = nil
      state.readTrailers.remove(id)
      Self.trim(&state)
      let pump = state.readers.isEmpty ? state.pump : nil
      // Nobody joins what is about to be broken off.
      if pump != nil { state.isHeldWhole = false }
      return (Self.room(&state, bound), pump)
    }
    room?.resume()
    pump?.cancel()
  }

  private static func serve(_ state: inout State) -> [(
    CheckedContinuation<HTTPBody.Part?, any Error>, HTTPBody.Part?
  )] {
    var served: [(CheckedContinuation<HTTPBody.Part?, any Error>, HTTPBody.Part?)] = []
    for id in state.waiting.keys.sorted() {
      guard case .success(let part)? = take(id, &state), let continuation = state.waiting.removeValue(forKey: id)
      else {
        continue
      }
      served.append((continuation, part))
    }
    return served
  }

  /// The next part for a reader; `nil` if it has to wait.
  private static func take(_ id: Int, _ state: inout State) -> Result<HTTPBody.Part?, any Error>? {
    guard let position = state.readers[id] else { return .success(nil) }
    if position < state.dropped + state.chunks.count {
      let chunk = state.chunks[position - state.dropped]
      state.readers[id] = position + 1
      trim(&state)
      return .success(.bytes(chunk))
    }
    switch state.end {
    case nil: return nil
    case .failure(let error): return .failure(error)
    case .success(let trailers):
      guard !trailers.isEmpty, state.readTrailers.insert(id).inserted else { return .success(nil) }
      return .success(.trailers(trailers))
    }
  }

  /// Releases what everyone has read, once nobody may join any more.
  private static func trim(_ state: inout State) {
    guard !state.isHeldWhole, let slowest = state.readers.values.min() else { return }
    let count = slowest - state.dropped
    guard count > 0 else { return }
    state.heldBytes -= state.chunks.prefix(count).reduce(0) { $0 + $1.count }
    state.chunks.removeFirst(count)
    state.dropped += count
  }

  private static func room(_ state: inout State, _ bound: Int) -> CheckedContinuation<Void, Never>? {
    guard state.heldBytes <= bound || state.readers.isEmpty else { return nil }
    defer { state.room = nil }
    return state.room
  }
}

/// What cannot be said by an error of the engine alone.
enum CacheFailure: Error, CustomStringConvertible {
  case cutShort

  var description: String { "the body was shorter or longer than announced" }
}
#endif
