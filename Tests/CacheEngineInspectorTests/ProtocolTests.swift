import CacheEngine
import Foundation
import Testing

@testable import CacheEngineInspector

@Suite struct ProtocolTests {
  @Test(
    "two speak the newest version that both know",
    arguments: [
      (ProtocolVersions(1, 1), ProtocolVersions(1, 1), 1), (ProtocolVersions(1, 3), ProtocolVersions(2, 5), 3),
      (ProtocolVersions(1, 2), ProtocolVersions(1, 1), 1), (ProtocolVersions(1, 1), ProtocolVersions(2, 3), nil),
      (ProtocolVersions(4, 5), ProtocolVersions(2, 3), nil),
    ])
  func versions(_ one: ProtocolVersions, _ other: ProtocolVersions, _ shared: Int?) {
    #expect(one.shared(with: other) == shared)
    #expect(other.shared(with: one) == shared)
  }

  static let kinds: [CacheEvent.Kind] = [
    .requestBegan(.get), .requestEnded(.get, .hit(level: "memory"), .nanoseconds(5)),
    .requestEnded(.get, .miss(.expired), .zero), .requestEnded(.set, .done, .zero),
    .requestEnded(.get, .failed("broken"), .zero), .requestEnded(.get, .cancelled, .zero), .lookupBegan,
    .hit(cost: 7, deadline: CacheInstant(nanoseconds: 9), .nanoseconds(3)), .hit(cost: nil, deadline: nil, .zero),
    .miss(.absent, .nanoseconds(1)), .stored(.set, cost: 1, deadline: nil, .zero),
    .stored(.backFill, cost: nil, deadline: CacheInstant(nanoseconds: 1), .zero), .removed(.evicted, cost: 4),
    .done(.clear, .zero), .failed(.backFill, "full", .zero), .cancelled(.get, .zero),
    .memoryWarning(dropped: 3, cost: 30, .zero), .flightBegan, .flightJoined(callers: 2), .flightLeft(callers: 1),
    .flightEnded(callers: 1, .nanoseconds(8)), .operated(.refused),
    .operated(.servedStale(deadline: CacheInstant(nanoseconds: 2))), .operated(.refreshBegan),
    .operated(.refreshEnded(.zero, error: "late")), .operated(.queued(running: 3, waiting: 1)),
    .operated(.admitted(running: 3, waiting: 0)), .operated(.released(running: 2, waiting: 0)),
    .operated(.retried(attempt: 2, after: .nanoseconds(4), error: "x")), .operated(.circuit(.halfOpen)),
    .operated(.timedOut(.nanoseconds(6))), .operated(.fellBack(error: nil)), .operated(.rememberedMiss),
    .operated(.shared(.forgot(nil))), .operated(.shared(.forgot(.flushed))),
    .operated(.shared(.deaf(since: CacheInstant(nanoseconds: 7)))), .operated(.shared(.heard)),
    .operated(.shared(.leads(lease: "00ff"))), .operated(.shared(.led(lease: "00ff", .nanoseconds(3)))),
    .operated(.shared(.follows(lease: "00ff"))), .operated(.shared(.followed(lease: "00ff", .nanoseconds(3)))),
  ]

  @Test("every kind of event comes out of a line as it went in", arguments: kinds.indices)
  func events(_ index: Int) throws {
    let event = CacheEvent(
      time: CacheInstant(nanoseconds: 123), request: RequestID(4), level: "memory", key: "a\nb\u{202e}\"",
      kind: Self.kinds[index], madeRoomFor: "c")
    let bytes = Wire.bytes(ServerLine(events: ServerLine.Events(lost: 2, list: [WireEvent(event)])))
    #expect(bytes.last == 0x0a)
    #expect(bytes.count { $0 == 0x0a } == 1)
    let line = try Wire.read(ServerLine.self, from: bytes)
    let read = try #require(line.events?.list.first?.event)
    #expect(String(describing: read) == String(describing: event))
    #expect(line.events?.lost == 2)
  }

  @Test("what a newer app adds is left alone")
  func additions() throws {
    let line =
      #"{"events":{"lost":0,"list":[{"what":"teleported","time":1},{"what":"asked","time":2,"colour":"red"}]},"mood":{}}"#
    let events = try #require(try Wire.read(ServerLine.self, from: line.utf8).events)
    #expect(events.list.compactMap(\.event).count == 1)
    // Where there is no way to leave it alone it is an error, and not another event.
    #expect(throws: DecodingError.self) {
      try Wire.read(CacheEvent.self, from: #"{"what":"teleported","time":1}"#.utf8)
    }
  }

  @Test("what an app counts that nobody could have counted ends the connection")
  func absurdCounts() {
    let line = #"{"counts":{"levels":{"memory":{"hits":9223372036854775807}}}}"#
    #expect(throws: DecodingError.self) { try Wire.read(ServerLine.self, from: line.utf8) }
  }

  @Test("a key of any length fits into a line")
  func longKeys() {
    let event = CacheEvent(
      time: CacheInstant(nanoseconds: 0), key: String(repeating: "é", count: 1 << 20), kind: .lookupBegan)
    let batch = Array(repeating: WireEvent(event), count: 1)
    #expect(Wire.bytes(ServerLine(events: ServerLine.Events(lost: 0, list: batch))).count < 64 << 10)
  }

  @Test("lines are whole however they are cut")
  func cuts() throws {
    let text = "first\n\nsecond\nthird"
    for size in 1...text.utf8.count {
      var reader = LineReader()
      var lines: [[UInt8]] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        lines += try reader.take(rest.prefix(size), limit: 100)
        rest = rest.dropFirst(size)
      }
      #expect(lines == [Array("first".utf8), Array("second".utf8)])
      #expect(reader.pending == 5)
    }
  }

  @Test("a line that does not end is given up at the limit, and one of the limit is taken")
  func limits() throws {
    var reader = LineReader()
    #expect(try reader.take(Array(repeating: 0x61, count: 10)[...], limit: 10) == [])
    #expect(try reader.take([0x0a], limit: 10).count == 1)
    #expect(throws: LineReader.TooLong.self) { try reader.take(Array(repeating: 0x61, count: 11)[...], limit: 10) }
  }
}
