#if HTTP
import HTTPTypes

/// Which requests wait for the answer to another one.
extension HTTPCache {
  /// Whether a request can be answered by the whole that somebody else asks for.
  static func mayShare(_ fields: HTTPFields) -> Bool {
    let special: Set<HTTPField.Name> = [.ifMatch, .ifUnmodifiedSince, .authorization]
    return !fields.contains { special.contains($0.name) }
  }

  /// The request that one waits for, or leads; `nil` if it is nobody else's.
  func flight(
    for journey: Journey, _ group: SelectingFields
  ) -> (flight: Flights<SharedResponse>.Flight, leads: Bool)? {
    let key = journey.target.text
    if Self.mayLead(journey) { return flights.join(key, for: group) }
    if let flight = flights.current(key, for: group) { return (flight, false) }
    // Whoever asks on the same conditions is told the same.
    return journey.isOnCondition ? flights.join(key, for: group.adding(Journey.conditions, of: journey.request)) : nil
  }

  /// Whether others can be answered by what the origin says to a request.
  ///
  /// The answer to a HEAD has no content for them, that to a range not all of it, and that to a condition may have none, unless it
  /// speaks of what is stored.
  private static func mayLead(_ journey: Journey) -> Bool {
    let fields = journey.request.headerFields
    guard journey.request.method == .get, !fields.contains(.range), !fields.contains(.ifRange) else { return false }
    return !journey.isOnCondition || journey.selectedResponse?.hasValidator == true
  }
}
#endif
