import CacheEngine
import Foundation
import Testing

@Suite struct PropertyListTransformerTests {
  struct User: Codable, Equatable {
    var name = "Ada \u{1F4BE} <&>"
    var born = Date(timeIntervalSince1970: 1_750_000_000)
    var photo = Data([0, 255, 7])
    var scores = [1.5, -2]
  }
  struct Nested: Codable, Sendable { var inner: [Nested] }

  @Test("C106 values become a property list of either format and the same values again")
  func roundTrips() async throws {
    for format in [PropertyListTransformer<User>.Format.binary, .xml] {
      let data = try await PropertyListTransformer<User>(format: format).inverseTransform(User())
      #expect(data.starts(with: Array((format == .xml ? "<?xml" : "bplist00").utf8)))
      for reader in [PropertyListTransformer<User>.Format.binary, .xml] {
        #expect(try await PropertyListTransformer<User>(format: reader).transform(data) == User())
      }
    }
  }

  @Test(
    "C106 bytes that are no property list of the type fail", arguments: ["", "bplist00", "<plist>", "{\"a\":1}", "x"])
  func refuses(_ text: String) async {
    let error = await #expect(throws: CacheError.self) {
      try await PropertyListTransformer<User>().transform(Data(text.utf8))
    }
    #expect(error?.code == .invalidCachedData)
  }

  @Test("C106 a lone number cannot be written")
  func fragments() async {
    let error = await #expect(throws: CacheError.self) { try await PropertyListTransformer<Int>().inverseTransform(1) }
    #expect(error?.code == .encodingFailed)
  }

  @Test("C106 damaged property lists of either format give a value or an error")
  func fuzz() async throws {
    var random = SeededGenerator(seed: 11)
    for format in [PropertyListTransformer<User>.Format.binary, .xml] {
      let transformer = PropertyListTransformer<User>(format: format)
      let valid = try await transformer.inverseTransform(User())
      for _ in 0..<1_000 {
        var bytes = valid
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if Bool.random(using: &random) { bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)) }
        do { _ = try await transformer.transform(bytes) } catch let error as CacheError {
          #expect(error.code == .invalidCachedData)
        }
      }
    }
  }
}
