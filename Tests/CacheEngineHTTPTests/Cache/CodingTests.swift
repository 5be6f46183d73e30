#if HTTP
import CacheEngine
import CacheEngineHTTP
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Stored responses as bytes")
struct CodingTests {
  private let coding = ByteCoding<StoredVariants>.storedVariants

  private var sample: StoredVariants {
    var first = stored(
      "ETag: \"1\"", "Vary: A, B", "X:", to: get("A: 1, 2"), status: 404, body: "first", at: newYear + .nanoseconds(7)
    )
    first.head.headerFields.append(HTTPField(name: .init("Latin")!, value: [0xE4, 0x20, 0xFF]))
    first.trailers = HTTPFields(lines: ["T: 1"])
    first.head.status = .init(code: 404, reasonPhrase: "Not Here")
    var last = stored(body: "")
    last.isHeadOnly = true
    return StoredVariants([first, stored(body: ""), last])
  }

  @Test("What is written is read back, byte for byte")
  func roundTrip() throws {
    for variants in [StoredVariants(), sample] {
      let read = try coding.decode(coding.encode(variants))
      #expect(read == variants)
      #expect(read.responses.first?.head.status.reasonPhrase == variants.responses.first?.head.status.reasonPhrase)
      #expect(try coding.encode(read) == coding.encode(variants))
    }
  }

  @Test("What answered a HEAD cannot have a body")
  func bodyOfHead() throws {
    var response = stored(body: "x")
    response.isHeadOnly = true
    let bytes = try coding.encode(StoredVariants([response]))
    #expect(throws: CacheError.self) { try coding.decode(bytes) }
  }

  @Test("Bytes that are cut anywhere, or changed anywhere outside a body, are refused")
  func damage() throws {
    var bytes = try coding.encode(sample)
    for count in 0..<bytes.count {
      #expect(throws: CacheError.self) { try coding.decode(bytes.prefix(count)) }
    }
    #expect(throws: CacheError.self) { try coding.decode(bytes + [0]) }
    let body = try #require(bytes.firstRange(of: Data("first".utf8)))
    for place in bytes.indices where !body.contains(place) {
      let before = bytes[place]
      for change: UInt8 in [1, 0x80, 0xFF] {
        bytes[place] = before ^ change
        #expect(throws: CacheError.self) { try coding.decode(bytes) }
      }
      bytes[place] = before
    }
  }

  @Test("Bytes from anywhere never crash a reader, and no length makes it take memory")
  func foreignBytes() {
    var chance = Chance(seed: 3)
    for _ in 0..<20_000 {
      var bytes = Data([1, UInt8.random(in: 0...3, using: &chance), 200, 0])
      for _ in 0..<Int.random(in: 0...60, using: &chance) { bytes.append(chance.one(of: [0, 0, 0, 1, 4, 65, 255])) }
      #expect(throws: CacheError.self) { try coding.decode(bytes) }
    }
  }
}
#endif
