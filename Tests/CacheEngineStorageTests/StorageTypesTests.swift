import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageTypesTests {
  typealias User = StorageBench.User
  let bench = StorageBench()

  /// Stores a value and reads it back from memory, from the disk, and as a property list.
  private func roundTrips<Value: Codable & Sendable & Equatable>(
    _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let store = try Storage(
      diskConfig: bench.diskConfig, transformer: TransformerFactory.forData(), sweepInterval: nil, clock: bench.clock)
    for view in [
      store.transform(to: Value.self), store.transform(by: TransformerFactory.forPropertyList(ofType: Value.self)),
    ] {
      try view.setObject(value, forKey: "a")
      #expect(try view.object(forKey: "a") == value, sourceLocation: sourceLocation)
      try view.removeInMemoryObject(forKey: "a")
      #expect(try view.object(forKey: "a") == value, sourceLocation: sourceLocation)
    }
    try store.close()
  }

  @Test("H55 truth values, texts and numbers round-trip, and arrays of them")
  func simpleTypes() throws {
    try roundTrips(true)
    try roundTrips("text with a “quote” and a \0")
    try roundTrips(Int.min)
    try roundTrips(Float(1.5))
    try roundTrips(0.1 + 0.2)
    try roundTrips([true, false])
    try roundTrips(["a", "", "日本語"])
    try roundTrips([1, -2, Int.max])
    try roundTrips([Float(0.1), 2])
    try roundTrips([0.1, .leastNonzeroMagnitude])
  }

  @Test("H56 data, dates, addresses, sets and dictionaries round-trip")
  func richTypes() throws {
    try roundTrips(Data([0, 1, 255]))
    try roundTrips(Date(timeIntervalSince1970: 1_234_567.891))
    try roundTrips(try #require(URL(string: "https://example.org/a?b=c#d")))
    try roundTrips(Set([1, 2, 3]))
    try roundTrips(["a": 1, "": 2])
  }

  private enum Kind: String, Codable { case one, two }
  private struct Nested: Codable, Sendable, Equatable {
    var kind = Kind.two
    var users = [User(name: "Ada")]
    var map: [Int: [String]] = [1: ["x"]]
  }

  @Test("H57 any codable value round-trips, fragments included")
  func codableTypes() throws {
    try roundTrips(Nested())
    try roundTrips([Nested(), Nested(kind: .one)])
    try roundTrips(Kind.one)
    try roundTrips(7)
    try roundTrips("fragment")
  }

  @Test("H58 a whole number stored as Float reads as Int, and a Float reads as Double")
  func numbers() throws {
    let floats = try bench.open(Float.self)
    try floats.setObject(3, forKey: "a")
    #expect(try floats.transform(to: Int.self).object(forKey: "a") == 3)
    try floats.setObject(1.5, forKey: "a")
    #expect(try floats.transform(to: Double.self).object(forKey: "a") == 1.5)
    #expect(throws: CacheError.self) { try floats.transform(to: Int.self).object(forKey: "a") }
    try floats.close()
  }

  @Test("H59 reading text through an integer view fails with a decoding error", arguments: StorageBench.Tiers.allCases)
  func textAsInteger(tiers: StorageBench.Tiers) throws {
    let texts = try bench.open(tiers, String.self)
    try texts.setObject("hello", forKey: "a")
    let error = #expect(throws: CacheError.self) { try texts.transform(to: Int.self).object(forKey: "a") }
    #expect(error?.code == .invalidCachedData)
    #expect(try texts.object(forKey: "a") == "hello")
    try texts.close()
  }

  @Test(
    "H60 H63 of two typed views the later write wins, in memory and on the disk", arguments: StorageBench.Tiers.allCases
  )
  func views(tiers: StorageBench.Tiers) throws {
    let users = try bench.open(tiers)
    let counts = users.transform(to: Int.self)
    try users.setObject(bench.ada, forKey: "a")
    #expect(try users.object(forKey: "a") == bench.ada)
    try counts.setObject(7, forKey: "a")
    #expect(try counts.object(forKey: "a") == 7)
    #expect(throws: CacheError.self) { try users.object(forKey: "a") }
    try users.setObject(bench.grace, forKey: "a")
    #expect(try users.object(forKey: "a") == bench.grace)
    #expect(throws: CacheError.self) { try counts.object(forKey: "a") }
    try counts.removeObject(forKey: "a")
    #expect(try users.object(forKey: "a") == nil)
    try users.close()
  }

  @Test("H60 two storages on one folder share the disk: the later write wins there")
  func twoStorages() throws {
    let users = try bench.open(User.self, memory: nil)
    let counts = try bench.open(Int.self, memory: nil)
    try users.setObject(bench.ada, forKey: "a")
    try counts.setObject(7, forKey: "a")
    #expect(try counts.object(forKey: "a") == 7)
    #expect(throws: CacheError.self) { try users.object(forKey: "a") }
    try users.close()
    #expect(try counts.object(forKey: "a") == 7)
    try counts.close()
  }

  private struct Person: Codable, Sendable, Equatable {
    var name: String
    var age: Int
  }

  @Test("H61 a type with the same fields decodes the stored object", arguments: StorageBench.Tiers.allCases)
  func sameFields(tiers: StorageBench.Tiers) throws {
    let users = try bench.open(tiers)
    try users.setObject(bench.ada, forKey: "a")
    #expect(try users.transform(to: Person.self).object(forKey: "a") == Person(name: "Ada", age: 36))
    #expect(try users.object(forKey: "a") == bench.ada)
    try users.close()
  }

  @Test("one store holds values of many types, each with its own view")
  func heterogeneous() throws {
    let store = try Storage(
      diskConfig: bench.diskConfig, transformer: TransformerFactory.forData(), sweepInterval: nil, clock: bench.clock)
    try store.setObject(Data([1, 2]), forKey: "bytes")
    try store.transform(to: User.self).setObject(bench.ada, forKey: "user")
    try store.transform(to: Int.self).setObject(7, forKey: "count")
    #expect(try store.object(forKey: "bytes") == Data([1, 2]))
    #expect(try store.transform(to: User.self).object(forKey: "user") == bench.ada)
    #expect(try store.transform(to: Int.self).object(forKey: "count") == 7)
    #expect(try store.object(forKey: "count") == Data("7".utf8), "bytes can be had of everything")
    #expect(try store.transform(to: Int.self).allObjects == [7], "what a view cannot read is left out")
    #expect(try store.allKeys.count == 3)
    try store.close()
  }

  private struct Old: Codable, Sendable, Equatable {
    var first: String
    var last: String
  }
  private struct Middle: Codable, Sendable, Equatable { var full: String }
  private struct New: Codable, Sendable, Equatable {
    var full: String
    var length: Int
  }

  @Test("H62 an old shape is read through a migration, entry by entry and over several versions, and stored anew")
  func migration() throws {
    let oldForm = TransformerFactory.forCodable(ofType: Old.self, as: "person.1")
    let middleForm = TransformerFactory.forCodable(ofType: Middle.self, as: "person.2")
      .migrating(from: oldForm) { Middle(full: "\($0.first) \($0.last)") }
    let newForm = TransformerFactory.forCodable(ofType: New.self, as: "person.3")
      .migrating(from: middleForm) { New(full: $0.full, length: $0.full.count) }
    func open<Value>(_ transformer: Transformer<Value>) throws -> Storage<String, Value> {
      try Storage(diskConfig: bench.diskConfig, transformer: transformer, sweepInterval: nil, clock: bench.clock)
    }
    let first = try open(oldForm)
    try first.setObject(Old(first: "Ada", last: "Lovelace"), forKey: "a")
    try first.setObject(Old(first: "Grace", last: "Hopper"), forKey: "b")
    try first.transform(by: middleForm).setObject(Middle(full: "Jean Bartik"), forKey: "c")
    try first.close()
    let storage = try open(newForm)
    #expect(try storage.object(forKey: "a") == New(full: "Ada Lovelace", length: 12))
    #expect(try storage.object(forKey: "a") == New(full: "Ada Lovelace", length: 12))
    #expect(try storage.object(forKey: "c") == New(full: "Jean Bartik", length: 11))
    // Through the old type's view it can be read as long as nobody has stored the new shape.
    let old = try #require(try storage.transform(by: oldForm).object(forKey: "b"))
    try storage.setObject(New(full: old.last, length: 0), forKey: "b")
    #expect(try storage.object(forKey: "b") == New(full: "Hopper", length: 0))
    #expect(throws: CacheError.self) { try storage.transform(by: oldForm).object(forKey: "b") }
    try storage.close()
  }

  @Test("H62 a shape that was changed without a new name migrates where it cannot be read")
  func migrationWithoutName() throws {
    let form = TransformerFactory.forCodable(ofType: New.self, as: "person")
      .migrating(from: TransformerFactory.forCodable(ofType: Middle.self, as: "person")) {
        New(full: $0.full, length: -1)
      }
    let storage = try Storage(diskConfig: bench.diskConfig, transformer: form, sweepInterval: nil, clock: bench.clock)
    try storage.setObject(New(full: "new", length: 3), forKey: "new")
    try storage.transformData().transform(by: TransformerFactory.forCodable(ofType: Middle.self, as: "person"))
      .setObject(Middle(full: "old"), forKey: "old")
    try storage.close()
    let again = try Storage(diskConfig: bench.diskConfig, transformer: form, sweepInterval: nil, clock: bench.clock)
    #expect(try again.object(forKey: "new") == New(full: "new", length: 3))
    #expect(try again.object(forKey: "old") == New(full: "old", length: -1))
    try again.close()
  }

  @Test("H62 shapes that were changed twice without a new name migrate, the oldest as well")
  func chainWithoutNames() throws {
    let oldForm = TransformerFactory.forCodable(ofType: Old.self, as: "person")
    let middleForm = TransformerFactory.forCodable(ofType: Middle.self, as: "person")
      .migrating(from: oldForm) { Middle(full: "\($0.first) \($0.last)") }
    let newForm = TransformerFactory.forCodable(ofType: New.self, as: "person")
      .migrating(from: middleForm) { New(full: $0.full, length: -1) }
    let storage = try Storage(
      diskConfig: bench.diskConfig, transformer: newForm, sweepInterval: nil, clock: bench.clock)
    try storage.transform(by: oldForm).setObject(Old(first: "Ada", last: "Lovelace"), forKey: "old")
    try storage.transform(by: middleForm).setObject(Middle(full: "Jean Bartik"), forKey: "middle")
    for key in ["old", "middle"] { try storage.removeInMemoryObject(forKey: key) }
    #expect(try storage.object(forKey: "old") == New(full: "Ada Lovelace", length: -1))
    #expect(try storage.object(forKey: "middle") == New(full: "Jean Bartik", length: -1))
    try storage.close()
  }

  private struct Refused: Error, Equatable {}

  @Test("H64 a custom transformer's error reaches the caller, in both directions and through every face")
  func transformerErrors() async throws {
    let picky = Transformer<String>(
      name: "picky", toData: { if $0 == "bad" { throw Refused() } else { Data($0.utf8) } },
      fromData: { _ in throw Refused() })
    let storage = try Storage(diskConfig: bench.diskConfig, transformer: picky, sweepInterval: nil, clock: bench.clock)
    #expect(throws: Refused.self) { try storage.setObject("bad", forKey: "a") }
    await #expect(throws: Refused.self) { try await storage.async.setObject("bad", forKey: "a") }
    try storage.setObject("good", forKey: "a")
    try storage.removeInMemoryObject(forKey: "a")
    #expect(throws: Refused.self) { try storage.object(forKey: "a") }
    await #expect(throws: Refused.self) { try await storage.async.object(forKey: "a") }
    let result: Result<String?, any Error> = await withCheckedContinuation { continuation in
      storage.async.object(forKey: "a") { continuation.resume(returning: $0) }
    }
    #expect(throws: Refused.self) { try result.get() }
    #expect(try storage.allObjects == [], "what a view cannot read is left out, whatever its transformer throws")
    try await storage.async.close()
  }

  @Test("H65 JSON dictionaries and arrays of them round-trip")
  func json() throws {
    try roundTripsJSON(["name": "Ada", "born": 1815, "ratio": 1.5, "admin": true, "tags": ["a", nil]])
    try roundTripsJSON([["a": 1], ["b": [2, 3]]])
  }

  private func roundTripsJSON(_ value: JSONValue) throws {
    let storage = try bench.open(JSONValue.self)
    try storage.setObject(value, forKey: "a")
    try storage.removeInMemoryObject(forKey: "a")
    #expect(try storage.object(forKey: "a") == value)
    try storage.close()
  }

  @Test("H66 objects are decoded from JSON text, data and dictionaries by storing those and reading as the type")
  func fromJSON() throws {
    let storage = try bench.open()
    try storage.transformData().setObject(Data(#"{"name":"Ada","age":36}"#.utf8), forKey: "data")
    try storage.transform(to: JSONValue.self).setObject(["name": "Ada", "age": 36], forKey: "dictionary")
    for key in ["data", "dictionary"] {
      let user = try #require(try storage.object(forKey: key))
      #expect(user == bench.ada)
      try storage.setObject(user, forKey: "copy of " + key)
      #expect(try storage.object(forKey: "copy of " + key) == bench.ada)
    }
    try storage.close()
  }

  @Test("bytes are kept as they are, from none to many, and a view of them copies nothing")
  func bytes() throws {
    let storage = try Storage(
      diskConfig: bench.diskConfig, transformer: TransformerFactory.forData(), sweepInterval: nil, clock: bench.clock)
    for count in [0, 1, 70_000, 600_000] {
      let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      // A slice does not begin at 0.
      try storage.setObject((Data([9]) + bytes).dropFirst(), forKey: "\(count)")
      try storage.removeInMemoryObject(forKey: "\(count)")
      let read = try #require(try storage.object(forKey: "\(count)"))
      #expect(read == bytes)
      #expect(read.startIndex == 0)
    }
    try storage.close()
  }

  private struct Wide<A: Codable & Sendable, B: Codable & Sendable>: Codable, Sendable {
    var a: A
    var b: B
  }

  @Test("H62 the names of private types are the same in every run, and may be long")
  func stableNames() throws {
    let names = [
      TransformerFactory.forCodable(ofType: Middle.self).name,
      TransformerFactory.forPropertyList(ofType: Middle.self).name,
      Transformer<Middle>(
        toData: { Data($0.full.utf8) }, fromData: { Middle(full: String(decoding: $0, as: UTF8.self)) }
      )
      .name,
    ]
    for name in names {
      #expect(name.hasSuffix("Middle"))
      #expect(!name.contains("0x") && !name.contains("$"), "an address differs from run to run")
    }
    typealias Pair = Wide<Middle, Old>
    typealias Wider = Wide<Wide<Pair, Pair>, Wide<Pair, Pair>>
    let form = TransformerFactory.forPropertyList(ofType: Wider.self)
    #expect(form.name.utf8.count > 255)
    let pair = Pair(a: Middle(full: "a"), b: Old(first: "b", last: "c"))
    let pairs = Wide(a: pair, b: pair)
    let storage = try Storage(
      diskConfig: bench.diskConfig, memoryConfig: nil, transformer: form, sweepInterval: nil, clock: bench.clock)
    try storage.setObject(Wider(a: pairs, b: pairs), forKey: "a")
    #expect(try storage.object(forKey: "a")?.b.a.b.last == "c")
    try storage.close()
  }

  @Test("two transformers of one type are kept apart by their names")
  func transformerNames() throws {
    let plain = try bench.open(String.self)
    let reversed = plain.transform(
      by: Transformer<String>(
        name: "reversed", toData: { Data($0.utf8.reversed()) },
        fromData: { String(decoding: $0.reversed(), as: UTF8.self) }))
    try reversed.setObject("abc", forKey: "a")
    #expect(try reversed.object(forKey: "a") == "abc")
    #expect(throws: CacheError.self) { try plain.object(forKey: "a") }
    try plain.setObject("abc", forKey: "a")
    #expect(try reversed.object(forKey: "a") == "\"cba\"", "memory does not hide what the disk holds")
    try plain.removeInMemoryObject(forKey: "a")
    for _ in 0..<2 {
      #expect(try reversed.object(forKey: "a") == "\"cba\"")
      #expect(try plain.object(forKey: "a") == "abc", "what another one has read first hides nothing either")
    }
    try plain.close()
  }
}
