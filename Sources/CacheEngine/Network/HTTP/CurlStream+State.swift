#if os(Linux) || os(macOS)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CurlStream {
  struct Waiter {
    var continuation: CheckedContinuation<Void, Never>?
    /// Until when it waits.
    var deadline: ContinuousClock.Instant?
    /// How often there was something new.
    var changes = 0
  }

  enum Side {
    case reader
    case writer
  }

  struct State {
    var heads: ArraySlice<Head> = []
    var hasFinalHead = false
    /// What came and was not taken.
    var content = Data()
    var holdsContentBack = false
    /// What is to be sent.
    var outgoing = Data()
    var outgoingEnd = false
    var holdsOutgoingBack = false
    /// The request has gone out whole.
    var isSent: Bool
    var end: Result<[HTTPHeader], any Error>?
    var reader = Waiter()
    var writer = Waiter()

    subscript(side: Side) -> Waiter {
      get { side == .reader ? reader : writer }
      set { if side == .reader { reader = newValue } else { writer = newValue } }
    }

    /// Notes that there is something new, and hands over the task that waits for it.
    mutating func change(_ side: Side) -> CheckedContinuation<Void, Never>? {
      self[side].changes += 1
      self[side].deadline = nil
      defer { self[side].continuation = nil }
      return self[side].continuation
    }

    /// Ends the exchange, unless it has ended.
    mutating func end(_ result: Result<[HTTPHeader], any Error>) -> [CheckedContinuation<Void, Never>] {
      if end == nil { end = result }
      return [change(.reader), change(.writer)].compactMap(\.self)
    }
  }
}
#endif
