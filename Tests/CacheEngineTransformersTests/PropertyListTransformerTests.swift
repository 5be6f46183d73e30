import CacheEngineTesting
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
  /// An array of arrays of arrays.
  struct Nested: Codable, Equatable {
    var inner: [Nested]

    init(depth: Int) { inner = depth > 1 ? [Nested(depth: depth - 1)] : [] }
    init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode([Nested].self) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(inner)
    }
  }

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

  @Test("C106 C117 nesting is followed to its limit and fails beyond, read and written")
  func depth() async throws {
    for format in [PropertyListTransformer<Nested>.Format.binary, .xml] {
      let transformer = PropertyListTransformer<Nested>(format: format)
      let data = try await transformer.inverseTransform(Nested(depth: 64))
      #expect(try await transformer.transform(data) == Nested(depth: 64))
      let writing = await #expect(throws: CacheError.self) { try await transformer.inverseTransform(Nested(depth: 65)) }
      #expect(writing?.code == .encodingFailed)
      let encoder = PropertyListEncoder()
      encoder.outputFormat = format == .xml ? .xml : .binary
      let tooDeep = try encoder.encode(Nested(depth: 65))
      let reading = await #expect(throws: CacheError.self) { try await transformer.transform(tooDeep) }
      #expect(reading?.code == .invalidCachedData)
    }
  }

  @Test(
    "C106 C117 XML that would overflow the stack fails, however it hides",
    arguments: [
      ("<array>", ""), ("<dict><key>a</key>", ""), ("<array><!-- </array> -->", ""),
      ("<array ><![CDATA[</array>]]>", ""),
      ("<array><?x </array>?>", ""), ("<array>", "encoding=\"UTF-16\""), ("<array>", "encoding=\"cp037\""),
      ("<array><!--></array>-->", ""), ("<array><!---></array>-->", ""), ("<array><?></array>?>", ""),
      ("<array>", "encoding=\"cp037\" note=\"utf-8\""), ("<array>", "><!DOCTYPE plist [ <!ENTITY a \">\" \"<!--\"> ]"),
    ])
  func deepXML(_ piece: String, _ encoding: String) async {
    let deep = "<?xml version=\"1.0\" \(encoding)?><plist>" + String(repeating: piece, count: 100_000)
    let old = String(repeating: "(", count: 100_000)
    let wide = Data([0xff, 0xfe]) + Data(deep.utf16.prefix(2_000).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
    for data in [Data(deep.utf8), Data(old.utf8), wide] {
      let error = await #expect(throws: CacheError.self) { try await PropertyListTransformer<Nested>().transform(data) }
      #expect(error?.code == .invalidCachedData)
    }
  }

  @Test("C106 C117 a binary list that holds itself, or one container twice, fails")
  func cycles() async {
    // The objects are an array of as many references, each a byte wide.
    func list(_ objects: [[UInt8]]) -> Data {
      var bytes = Array("bplist00".utf8)
      var offsets: [UInt8] = []
      for references in objects {
        offsets.append(UInt8(bytes.count))
        bytes += [0xa0 | UInt8(references.count)] + references
      }
      let table = UInt8(bytes.count)
      let wide: (UInt8) -> [UInt8] = { [0, 0, 0, 0, 0, 0, 0, $0] }
      return Data(bytes + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + wide(UInt8(objects.count)) + wide(0) + wide(table))
    }
    for objects in [[[0]], [[1], [0]], [[1, 1], []], [[1], [2, 2], [3, 3], []]] as [[[UInt8]]] {
      let error = await #expect(throws: CacheError.self) {
        try await PropertyListTransformer<Nested>().transform(list(objects))
      }
      #expect(error?.code == .invalidCachedData)
    }
    #expect((try? await PropertyListTransformer<Nested>().transform(list([[1, 2], [], []])))?.inner.count == 2)
  }

  @Test("A list that unfolds to many times its size fails, and one that repeats itself is read")
  func unfolding() async throws {
    let transformer = PropertyListTransformer<[String]>()
    let repeating = [String](repeating: String(repeating: "a", count: 1_000), count: 30_000)
    let data = try await transformer.inverseTransform(repeating)
    #expect(data.count < 100_000)
    #expect(try await transformer.transform(data) == repeating)
    let error = await #expect(throws: CacheError.self) {
      try await transformer.inverseTransform([String](repeating: String(repeating: "a", count: 10_000), count: 10_000))
    }
    #expect(error?.code == .encodingFailed)
  }

  @Test("Comments, instructions, texts and a document type are read", arguments: ["utf-8", "UTF-8"])
  func ordinaryXML(_ encoding: String) async throws {
    let text = """
      \u{feff}<?xml version="1.0" encoding="\(encoding)"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- a > b --><plist version="1.0"><array><!----><string><![CDATA[<array>]]>&lt;</string><?x y?></array></plist>
      """
    #expect(try await PropertyListTransformer<[String]>().transform(Data(text.utf8)) == ["<array><"])
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
