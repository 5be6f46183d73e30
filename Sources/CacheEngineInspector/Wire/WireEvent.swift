package import CacheEngine

/// An event on its way to another process: long texts are cut, and numbers bounded that come from there.
@dynamicMemberLookup
package struct WireEvent: Codable, Sendable, Equatable {
  private let coded: CodedEvent

  package subscript<Field>(dynamicMember field: KeyPath<CodedEvent, Field>) -> Field { coded[keyPath: field] }

  package init(_ event: CacheEvent) {
    var coded = CodedEvent(event)
    coded.key = coded.key.map(Self.cut)
    coded.madeRoomFor = coded.madeRoomFor.map(Self.cut)
    coded.error = coded.error.map(Self.cut)
    self.coded = coded
  }

  /// Long texts are cut, so that a line of events cannot grow beyond its bounds.
  package static func cut(_ key: String) -> String {
    guard key.utf8.count > WireLimits.key else { return key }
    return String(decoding: key.utf8.prefix(WireLimits.key), as: UTF8.self) + "…"
  }

  package init(from decoder: any Decoder) throws {
    var coded = try CodedEvent(from: decoder)
    coded.took = coded.took.map { min(max(0, $0), Int64(WireLimits.count)) }
    for number in [\CodedEvent.cost, \.callers, \.dropped, \.running, \.waiting, \.attempt] {
      coded[keyPath: number] = coded[keyPath: number].map(WireLimits.counted)
    }
    self.coded = coded
  }

  package func encode(to encoder: any Encoder) throws { try coded.encode(to: encoder) }

  /// The event; `nil` for one of a kind that is not known here, as a newer app may send.
  package var event: CacheEvent? { coded.event }
}
