#if HTTP
import Synchronization

/// The requests that are on their way to the origin, for those who would ask the same.
final class Flights<Response: Sendable>: Sendable {
  /// What came of a request for those who waited for it.
  enum Outcome: Sendable {
    /// A response that may be for them as well.
    case response(Response)
    /// What is stored has changed: look again.
    case stored
    /// Nobody asks any more: somebody else has to.
    case abandoned
    /// The origin gives no answer, which nobody has to find out again.
    case unanswered(any Error)
    /// The origin fails with a status for which something stale may stand in.
    case failed(Int)
    /// Nothing that others could use.
    case alone
  }

  /// One request on its way.
  final class Flight: Sendable {
    fileprivate let variant: SelectingFields

    fileprivate init(_ variant: SelectingFields) { self.variant = variant }

    struct State {
      var outcome: Outcome?
      var nextWaiter = 0
      var waiting: [Int: CheckedContinuation<Outcome, any Error>] = [:]
    }

    let state = Mutex(State())

    /// Waits until it is known what came of it.
    func outcome() async throws -> Outcome {
      let id = state.withLock { state in
        state.nextWaiter += 1
        return state.nextWaiter
      }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let known = state.withLock { state -> Result<Outcome, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            if let outcome = state.outcome { return .success(outcome) }
            state.waiting[id] = continuation
            return nil
          }
          if let known { continuation.resume(with: known) }
        }
      } onCancel: {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
      }
    }
  }

  private struct Table {
    var flights: [String: [SelectingFields: Flight]] = [:]
    var ended = 0
  }

  private let table = Mutex(Table())

  /// How many flights have ended.
  ///
  /// Whoever reads what is stored and then begins a flight has to look again if one ended in between.
  var endedCount: Int { table.withLock { $0.ended } }

  /// The flight for a key.
  ///
  /// `variant`: What those have in common who may share it, as far as is known beforehand.
  ///
  /// - Returns: It, and whether it begins with this call.
  func join(
    _ key: String, for variant: SelectingFields = SelectingFields(values: [:])
  ) -> (flight: Flight, leads: Bool) {
    table.withLock { table in
      if let flight = table.flights[key]?[variant] { return (flight, false) }
      let flight = Flight(variant)
      table.flights[key, default: [:]][variant] = flight
      return (flight, true)
    }
  }

  /// The flight for a key, if there is one.
  func current(_ key: String, for variant: SelectingFields) -> Flight? {
    table.withLock { $0.flights[key]?[variant] }
  }

  /// Tells those who wait.
  ///
  /// A response can be joined until ``end(_:_:)``; other outcomes end the flight.
  func tell(_ key: String, _ flight: Flight, _ outcome: Outcome) {
    if case .response = outcome {} else { end(key, flight) }
    let waiting = flight.state.withLock { state in
      guard state.outcome == nil else { return [CheckedContinuation<Outcome, any Error>]() }
      state.outcome = outcome
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }

  /// Takes a flight out of the table.
  func end(_ key: String, _ flight: Flight) {
    table.withLock { table in
      guard table.flights[key]?[flight.variant] === flight else { return }
      table.flights[key]?[flight.variant] = nil
      if table.flights[key]?.isEmpty == true { table.flights[key] = nil }
      table.ended += 1
    }
  }

  /// Takes the flights for a key out of the table: those who wait for them go on waiting, and nobody else joins them.
  func detach(_ key: String) {
    table.withLock { $0.ended += $0.flights.removeValue(forKey: key)?.count ?? 0 }
  }

  /// The same for all of them.
  func detachAll() {
    table.withLock { table in
      table.ended += table.flights.values.reduce(0) { $0 + $1.count }
      table.flights = [:]
    }
  }

  /// Nothing is under way.
  var isIdle: Bool { table.withLock { $0.flights.isEmpty } }
}
#endif
