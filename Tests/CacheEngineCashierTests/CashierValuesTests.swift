import CacheEngine
import CacheEngineCashier
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CashierValuesTests {
  private struct Point: Codable, Equatable, Sendable {
    var x: Int
    var label: String?
  }

  /// Something that cannot be written.
  private final class Session: Sendable {}

  private let bench = CashierBench()

  /// Stores a value and reads it from memory, from the files, and in a new process.
  private func roundTrip<Value: Codable & Equatable & Sendable>(
    _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let cashier = try await bench.open()
    try await cashier.set(value, forKey: "key")
    #expect(try await cashier.value(Value.self, forKey: "key") == value, sourceLocation: sourceLocation)
    await cashier.onMemoryWarning()
    #expect(try await cashier.value(Value.self, forKey: "key") == value, sourceLocation: sourceLocation)
    let next = try await bench.openAfterKill()
    #expect(try await next.value(Value.self, forKey: "key") == value, sourceLocation: sourceLocation)
  }

  @Test("S5 text, dictionaries, arrays and bytes are read back equal, by type and by name", arguments: [true, false])
  func typedGetters(fromMemory: Bool) async throws {
    let cashier = try await bench.open()
    try await cashier.set("Grüße \u{0} 👋", forKey: "text")
    try await cashier.set(["a": 1, "b": 2], forKey: "dictionary")
    try await cashier.set(["x", "y"], forKey: "array")
    try await cashier.set(Data([0, 255, 7]), forKey: "bytes")
    if !fromMemory { await cashier.onMemoryWarning() }
    #expect(try await cashier.string(forKey: "text") == "Grüße \u{0} 👋")
    #expect(try await cashier.value(String.self, forKey: "text") == "Grüße \u{0} 👋")
    #expect(try await cashier.dictionary(of: Int.self, forKey: "dictionary") == ["a": 1, "b": 2])
    #expect(try await cashier.value([String: Int].self, forKey: "dictionary") == ["a": 1, "b": 2])
    #expect(try await cashier.array(of: String.self, forKey: "array") == ["x", "y"])
    #expect(try await cashier.value([String].self, forKey: "array") == ["x", "y"])
    #expect(try await cashier.data(forKey: "bytes") == Data([0, 255, 7]))
    #expect(try await cashier.value(Data.self, forKey: "bytes") == Data([0, 255, 7]))
  }

  @Test("S6 numbers and truth values, alone and in arrays, are read back with their type and value")
  func numbers() async throws {
    try await roundTrip(Int.min)
    try await roundTrip(UInt64.max)
    try await roundTrip(0.1 + 0.2)
    try await roundTrip(Double.greatestFiniteMagnitude)
    try await roundTrip(-Double.infinity)
    try await roundTrip(Float(0.1))
    try await roundTrip(true)
    try await roundTrip([Int8.min, .max])
    try await roundTrip([1.5, -0.0, .infinity])
    try await roundTrip([Float.pi, .leastNonzeroMagnitude])
    try await roundTrip([true, false])
    try await bench.open().set(Double.nan, forKey: "nan")
    #expect(try await bench.openAfterKill().value(Double.self, forKey: "nan")?.isNaN == true)
  }

  @Test("S7 a struct of one's own is read back equal, a private one as well")
  func structs() async throws {
    try await roundTrip(Point(x: 3, label: "three"))
    try await roundTrip([Point(x: 1), Point(x: 2)])
    try await roundTrip(Set(["a", "b"]))
  }

  @Test("S8 a removed key is nil, and not valid", arguments: [true, false])
  func removing(isPersistent: Bool) async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.isPersistent = isPersistent }
    try await cashier.set("a", forKey: "key")
    try await cashier.remove(forKey: "key")
    try await cashier.remove(forKey: "never there")
    #expect(try await cashier.string(forKey: "key") == nil)
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(try await cashier.lastUpdate(forKey: "key") == nil)
    #expect(try await bench.openAfterKill().string(forKey: "key") == nil)
  }

  @Test("S9 to store nil is to remove")
  func storingNil() async throws {
    let cashier = try await bench.open()
    for key in ["a", "b", "c"] { try await cashier.set("text", forKey: key) }
    try await cashier.set(nil as String?, forKey: "a")
    try await cashier.set(nil as CashierMedia?, forKey: "b")
    try await cashier.setInMemory(nil as Session?, forKey: "c")
    for key in ["a", "b", "c"] { #expect(try await cashier.string(forKey: key) == nil) }
  }

  @Test("S10 media are read back equal, with what is known of them", arguments: [true, false])
  func media(fromMemory: Bool) async throws {
    let cashier = try await bench.open()
    let image = CashierMedia(
      Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }), type: "image/png",
      metadata: ["scale": "2", "orientation": "left"])
    let empty = CashierMedia(Data(), type: "")
    try await cashier.set(image, forKey: "image")
    try await cashier.set(empty, forKey: "empty")
    if !fromMemory { await cashier.onMemoryWarning() }
    #expect(try await cashier.media(forKey: "image") == image)
    #expect(try await cashier.media(forKey: "empty") == empty)
    #expect(try await cashier.value(forKey: "image", as: .media) == image)
  }

  @Test("S10 media that were cut short are an error and not other media")
  func cutMedia() throws {
    let bytes = try ByteCoding.media.encode(CashierMedia(Data([1, 2, 3]), type: "image/png"))
    for length in 0..<(bytes.count - 3) {
      #expect(throws: CacheError.self) { try ByteCoding.media.decode(bytes.prefix(length)) }
    }
    #expect(try ByteCoding.media.decode(bytes).bytes == Data([1, 2, 3]))
  }

  @Test("S11 who asks for another type gets nil, from memory and from files", arguments: [true, false])
  func otherTypes(fromMemory: Bool) async throws {
    let cashier = try await bench.open()
    try await cashier.set(Data("[1]".utf8), forKey: "bytes")
    try await cashier.set("[1]", forKey: "text")
    try await cashier.set([1], forKey: "array")
    try await cashier.set(1, forKey: "number")
    if !fromMemory { await cashier.onMemoryWarning() }
    #expect(try await cashier.string(forKey: "bytes") == nil)
    #expect(try await cashier.array(of: Int.self, forKey: "bytes") == nil)
    #expect(try await cashier.data(forKey: "text") == nil)
    #expect(try await cashier.array(of: Double.self, forKey: "array") == nil)
    #expect(try await cashier.value(Bool.self, forKey: "number") == nil)
    #expect(try await cashier.media(forKey: "array") == nil)
    #expect(try await cashier.valueInMemory(Session.self, forKey: "number") == nil)
    // Nothing was lost by asking.
    #expect(try await cashier.array(of: Int.self, forKey: "array") == [1])
  }

  @Test("S15 text read back from a file is the text, and stands there as it is")
  func textOnDisk() async throws {
    let cashier = try await bench.open()
    try await cashier.set("plain wörds", forKey: "key")
    #expect(try bench.isOnDisk("plain wörds"))
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: "key") == "plain wörds")
  }

  @Test("S16 bytes, text and media honour the setting not to be persistent: there is nothing of them in any file")
  func notPersistent() async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.isPersistent = false }
    try await cashier.set(Data("secret bytes".utf8), forKey: "bytes")
    try await cashier.set("secret text", forKey: "text")
    try await cashier.set(CashierMedia(Data("secret media".utf8), type: "x"), forKey: "media")
    #expect(try await cashier.string(forKey: "text") == "secret text")
    #expect(try await cashier.data(forKey: "bytes") == Data("secret bytes".utf8))
    #expect(try !bench.isOnDisk("secret"))
  }

  @Test("a value that cannot be written is refused, and what was there stays")
  func cannotBeEncoded() async throws {
    struct Odd: Codable, Sendable {
      func encode(to encoder: any Encoder) throws { throw CacheError(.simulated, "odd") }
      init() {}
      init(from decoder: any Decoder) throws { throw CacheError(.simulated, "odd") }
    }
    let cashier = try await bench.open()
    try await cashier.set("before", forKey: "key")
    await #expect(throws: CacheError.self) { try await cashier.set(Odd(), forKey: "key") }
    #expect(try await cashier.string(forKey: "key") == "before")
  }

  @Test("a value in a form of one's own is written and read by that form")
  func ownCoding() async throws {
    let reversed = ByteCoding<String>(
      name: "reversed", encode: { Data($0.utf8.reversed()) }, decode: { String(decoding: $0.reversed(), as: UTF8.self) }
    )
    let cashier = try await bench.open()
    try await cashier.set("abc-xyz", forKey: "key", as: reversed)
    #expect(try bench.isOnDisk("zyx-cba"))
    await cashier.onMemoryWarning()
    #expect(try await cashier.value(forKey: "key", as: reversed) == "abc-xyz")
    #expect(try await cashier.string(forKey: "key") == nil)
  }

  @Test("S20 keys named like files and records of the cache itself break nothing")
  func innerNames() async throws {
    let keys = [
      "record", "Properties", "CreationDate", "cashier", "cashier.plist", "entries", "lock", "checkpoint", "",
    ]
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.lifespan = .seconds(9) }
    for key in keys { try await cashier.set("value of \(key)", forKey: key) }
    let next = try await bench.openAfterKill()
    #expect(next.settings.lifespan == .seconds(9))
    for key in keys { #expect(try await next.string(forKey: key) == "value of \(key)") }
    for key in keys { try await next.remove(forKey: key) }
    #expect(next.settings.lifespan == .seconds(9))
  }

  @Test("a cache is a level: transformed, composed, and a miss where its lifespan is over")
  func asLevel() async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.lifespan = .seconds(10) }
    let source = ScriptedLevel<String, Point> { key in .hit(Entry(Point(x: key.count))) }
    let level = cashier.level(as: .data)
    let cache = level.transformValues(JSONTransformer<Point>()).compose(source)
    #expect(try await cache.get("four") == Point(x: 4))
    #expect(try await cache.get("four") == Point(x: 4))
    #expect(source.calls.count { $0 == .get("four") } == 1)
    bench.clock.advance(by: .seconds(10))
    #expect(try await level.lookup("four").missReason == .expired)
    #expect(try await level.lookupIncludingExpired("four").entry?.isStale == true)
    #expect(try await cache.get("four") == Point(x: 4))
    #expect(source.calls.count { $0 == .get("four") } == 2)
    #expect(try await cashier.isValid(forKey: "four"))
    try await cashier.changeSettings { $0.returnsExpiredData = false }
    bench.clock.advance(by: .seconds(10))
    #expect(try await level.lookupIncludingExpired("four").missReason == .expired)
    #expect(try await cashier.level(of: String.self).lookup("absent").missReason == .absent)
  }

  @Test("a level above a cache keeps a copy no longer than the cache calls the entry valid")
  func belowMemory() async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.lifespan = .seconds(10) }
    let cache = MemoryCacheLevel<String, String>(clock: bench.clock).compose(cashier.level(of: String.self))
    try await cashier.set("rain", forKey: "weather")
    bench.clock.advance(by: .seconds(4))
    #expect(try await cache.get("weather") == "rain")
    bench.clock.advance(by: .seconds(6))
    #expect(try await cache.get("weather") == nil)
    try await cashier.refreshValidation(forKey: "weather")
    #expect(try await cache.get("weather") == "rain")
    try await cashier.changeSettings { $0.lifespan = .zero }
    #expect(try await cashier.level(of: String.self).lookup("weather").entry?.deadline == nil)
  }

  private struct AVeryLongNameOfATypeThatStandsInAnotherOne: Codable, Equatable, Sendable {
    struct AVeryLongNameOfATypeThatStandsInAnotherOne: Codable, Equatable, Sendable {
      struct AVeryLongNameOfATypeThatStandsInAnotherOne: Codable, Equatable, Sendable {
        struct ANameThatIsEvenMuchLongerThanThoseOfAllTheOtherTypesAroundItNoneOfWhichIsShortAtAll: Codable, Equatable,
          Sendable
        {
          struct First: Codable, Equatable, Sendable { var number = 1 }
          struct Other: Codable, Equatable, Sendable { var number = 1 }
        }
      }
    }
  }

  @Test("a type with a name of any length is stored, read after a restart, and taken for no other")
  func longNames() async throws {
    typealias Long = AVeryLongNameOfATypeThatStandsInAnotherOne.AVeryLongNameOfATypeThatStandsInAnotherOne
      .AVeryLongNameOfATypeThatStandsInAnotherOne
      .ANameThatIsEvenMuchLongerThanThoseOfAllTheOtherTypesAroundItNoneOfWhichIsShortAtAll
    #expect(ByteCoding<Long.First>.json.name.utf8.count > 255)
    let cashier = try await bench.open()
    try await cashier.set(Long.First(), forKey: "key")
    for cashier in [cashier, try await bench.openAfterKill()] {
      #expect(try await cashier.value(Long.Other.self, forKey: "key") == nil)
      #expect(try await cashier.value(Long.First.self, forKey: "key") == Long.First())
    }
    try await cashier.close()
  }

  @Test("A value that is loaded by a closure is loaded once for each type, through however many views")
  func loadedOnce() async throws {
    let cashier = try await bench.open()
    let gate = Gate()
    let loads = Calls<Int>()
    let callers = (0..<10).map { _ in
      Task {
        try await cashier.level(as: .data).value(forKey: "key") { _ in
          loads.append(1)
          try await gate.pass()
          return .value(Data([1]))
        }
      }
    }
    await gate.arrivals(1)
    // Of another type it is another load.
    let text = try await cashier.level(as: ByteCoding<String>.json).value(forKey: "key") { _ in .value("text") }
    #expect(text == "text")
    gate.open()
    for caller in callers { #expect(try await caller.value == Data([1])) }
    #expect(loads.count == 1)
  }
}
