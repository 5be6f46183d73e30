import CacheEngine
import CacheEngineTransformers
import Foundation
import Testing

@Suite struct JSONTransformerTests {
  struct User: Codable, Equatable {
    var userName: String
    var born = Date(timeIntervalSince1970: 1_750_000_000.25)
    var score = 1.5
  }

  @Test("C115 C116 values become JSON and the same values again, whatever the options")
  func roundTrips() async throws {
    let user = User(userName: "Ada \u{1F4BE}/")
    for dates in [JSONOptions.Dates.secondsSince2001, .secondsSince1970, .millisecondsSince1970] {
      for names in [JSONOptions.Names.asDeclared, .snakeCase] {
        for isPretty in [false, true] {
          let transformer = JSONTransformer<User>(options: JSONOptions(dates: dates, names: names, isPretty: isPretty))
          #expect(try await transformer.transform(try await transformer.inverseTransform(user)) == user)
        }
      }
    }
  }

  @Test("C116 the options say what is written, and names come in order")
  func options() async throws {
    let user = User(userName: "a/b", born: Date(timeIntervalSince1970: 0), score: .infinity)
    let options = JSONOptions(dates: .iso8601, names: .snakeCase, nonFiniteNumbers: .text)
    let data = try await JSONTransformer<User>(options: options).inverseTransform(user)
    #expect(
      String(decoding: data, as: UTF8.self) == #"{"born":"1970-01-01T00:00:00Z","score":"inf","user_name":"a/b"}"#)
    #expect(try await JSONTransformer<User>(options: options).transform(data) == user)
  }

  @Test(
    "C115 bytes that are not JSON, or not such a value, fail with a short message", arguments: ["", "{", "[1] x", "[]"])
  func refuses(_ text: String) async throws {
    let error = await #expect(throws: CacheError.self) { try await JSONTransformer<User>().transform(Data(text.utf8)) }
    #expect(error?.code == .invalidCachedData)
    #expect(error?.message.hasPrefix("the JSON is not of the type User") == true)
    #expect(error?.underlying != nil)
  }

  @Test("P7 C115 C119 what cannot be converted is told of by its length, and by nothing that stands in it")
  func secrets() async throws {
    let secret = "hunter2"
    let (data, list) = (Data(secret.utf8), Data("<plist><string>\(secret)</string></plist>".utf8))
    let attempts: [() async throws -> Void] = [
      { _ = try await JSONTransformer<User>().transform(data) },
      { _ = try await PropertyListTransformer<User>().transform(list) },
      { _ = try await Base64Transformer().transform("\(secret)!") },
      { _ = try await CompressionTransformer(.gzip).transform(data) },
      { _ = try await StringTransformer().transform(data + [0xff]) },
      { _ = try await StringTransformer(encoding: .ascii).inverseTransform("\(secret) ä") },
      { _ = try await DateTransformer(format: "yyyy").inverseTransform(secret) },
      { _ = try await NumberTransformer().inverseTransform(secret) },
    ]
    for attempt in attempts {
      let error = await #expect(throws: CacheError.self) { try await attempt() }
      let text = try #require(error.map(String.init(describing:)))
      #expect(!text.contains(secret) && !text.contains("68 75 6e"), "\(text)")
    }
  }

  @Test("C116 C117 a date in ISO 8601 is read as it was written, and one that could not be fails")
  func datesInISO8601() async throws {
    let transformer = JSONTransformer<[Date]>(options: JSONOptions(dates: .iso8601))
    let last = Date(timeIntervalSince1970: 253_402_300_799)
    for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0), last] {
      #expect(try await transformer.transform(try await transformer.inverseTransform([date])) == [date])
    }
    let others = [Double.nan, .infinity, -.infinity, 253_402_300_800, -1e11].map(Date.init(timeIntervalSince1970:))
    for date in others {
      let error = await #expect(throws: CacheError.self) { try await transformer.inverseTransform([date]) }
      #expect(error?.code == .encodingFailed)
    }
  }

  @Test("C117 a number that JSON cannot hold fails", arguments: [Double.nan, .infinity, -.infinity])
  func notFinite(_ number: Double) async {
    let error = await #expect(throws: CacheError.self) {
      try await JSONTransformer<[Double]>().inverseTransform([number])
    }
    #expect(error?.code == .encodingFailed)
    let untyped = await #expect(throws: CacheError.self) {
      try await JSONValueTransformer().inverseTransform(["a": .number(number)])
    }
    #expect(untyped?.code == .encodingFailed)
  }

  /// Objects in objects.
  struct Nested: Codable {
    var inner: [String: Nested]?

    init(depth: Int) { inner = depth > 1 ? ["inner": Nested(depth: depth - 1)] : nil }
    init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode([String: Nested].self) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(inner ?? [:])
    }
  }

  @Test(
    "JSON is followed to its limit and fails beyond, read and written, in every encoding",
    arguments: [
      String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ])
  func depth(_ encoding: String.Encoding) async throws {
    func data(_ depth: Int) throws -> Data {
      // What closes in a text closes nothing, and a quoted quote ends none.
      let opening = String(repeating: #"{"inner}\"}":"#, count: depth - 1)
      return try #require((opening + "{}" + String(repeating: "}", count: depth - 1)).data(using: encoding))
    }
    let transformer = JSONTransformer<Nested>()
    _ = try await transformer.transform(try data(128))
    for depth in [129, 500, 5_000] {
      let deep = try data(depth)
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(deep) }
      #expect(error?.code == .invalidCachedData && error?.underlying is JSONNesting.Refused)
      #expect(throws: CacheError.self) { try ByteCoding<Nested>.json.decode(deep) }
    }
    _ = try await transformer.inverseTransform(Nested(depth: 128))
    let writing = await #expect(throws: CacheError.self) { try await transformer.inverseTransform(Nested(depth: 129)) }
    #expect(writing?.code == .encodingFailed)
    #expect(throws: CacheError.self) { try ByteCoding<Nested>.json.encode(Nested(depth: 129)) }
  }
}
