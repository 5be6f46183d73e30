import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

/// What our own faces are made of is there for levels and caches of users' own.
@Suite struct OwnLevelTests {
  private final class Steps: Sendable {
    private let noted = Mutex<[String]>([])
    var all: [String] { noted.withLock { $0 } }
    func note(_ step: String) { noted.withLock { $0.append(step) } }
  }

  @Test("Writes of one key through a gate take turns, and a write hears of a sweep that came meanwhile")
  func gate() async throws {
    let (gate, first) = (WriteGate<String>(), Gate())
    let steps = Steps()
    let early = Task {
      try await gate.write("a") { began in
        try await first.pass()
        steps.note("early, swept: \(gate.isSwept("a", since: began))")
      }
    }
    await first.arrivals(1)
    let late = Task.immediate {
      try await gate.write("a") { began in
        steps.note("late, swept: \(gate.isSwept("a", since: began))")
      }
    }
    try await gate.writeAll { steps.note("swept") }
    first.open()
    try await early.value
    try await late.value
    #expect(steps.all == ["swept", "early, swept: true", "late, swept: false"])
  }

  @Test("JSON is written and read by an encoder and a decoder of one's own, and depth is bounded with those, too")
  func ownJSON() throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let coding = ByteCoding<[Date]>.json(encoder: encoder, decoder: decoder)
    let bytes = try coding.encode([Date(timeIntervalSince1970: 0)])
    #expect(String(decoding: bytes, as: UTF8.self) == #"["1970-01-01T00:00:00Z"]"#)
    #expect(try coding.decode(bytes) == [Date(timeIntervalSince1970: 0)])
    #expect(coding.name == ByteCoding<[Date]>.json.name)
    let deep = Data((String(repeating: "[", count: 129) + String(repeating: "]", count: 129)).utf8)
    #expect(throws: CacheError.self) { try coding.decode(deep) }
  }

  @Test("A property list holds a lone number, and nothing else is read as one")
  func propertyList() throws {
    let coding = ByteCoding<Int>.propertyList
    #expect(try coding.decode(try coding.encode(7)) == 7)
    #expect(throws: CacheError.self) { try coding.decode(try ByteCoding<String>.propertyList.encode("seven")) }
    #expect(throws: CacheError.self) { try coding.decode(Data("bplist00".utf8)) }
  }

  @Test("Keys that are equal make equal bytes")
  func canonicalKeys() throws {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    let text = ByteCoding<String>.canonicalText
    #expect(try text.encode(composed) == text.encode(decomposed))
    let sets = ByteCoding<Set<String>>.canonicalJSON
    #expect(try sets.encode([composed, "b", "a"]) == sets.encode(["a", "b", decomposed]))
    // What is made for values keeps them as they are.
    #expect(try ByteCoding<String>.utf8.encode(composed) != ByteCoding<String>.utf8.encode(decomposed))
    #expect(try ByteCoding<String>.json.encode(composed) != ByteCoding<String>.json.encode(decomposed))
  }

  @Test("Memory pressure can be heard of by what is no level, until the subscription is cancelled")
  func pressure() async throws {
    let (source, clock, heard) = (ManualPressureSource(), ManualClock(), Gate())
    let subscription = MemoryWarningSubscription(to: source, minimumInterval: .zero, clock: clock) {
      do { try await heard.pass() } catch { Issue.record(error) }
    }
    heard.open()
    source.send(.warning)
    await heard.arrivals(1)
    subscription.cancel()
    #expect(source.subscriberCount == 0)
  }

  @Test("When an entry on the disk was stored is told without reading it")
  func created() async throws {
    let clock = ManualClock()
    let folder = FileManager.default.temporaryDirectory.appending(path: "created-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, expiry: .after(.seconds(60)), clock: clock)
    let stored = clock.now
    try await disk.set(Data([1]), forKey: "a")
    clock.advance(by: .seconds(59))
    #expect(try disk.created("a") == stored)
    #expect(try disk.created("b") == nil)
    clock.advance(by: .seconds(1))
    #expect(try disk.created("a") == nil)
    try await disk.close()
  }
}
