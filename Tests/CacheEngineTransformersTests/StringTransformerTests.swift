import CacheEngine
import CacheEngineTransformers
import Foundation
import Testing

@Suite struct StringTransformerTests {
  @Test(
    "C118 bytes become text in the encoding and the same bytes again",
    arguments: [
      (.utf8, Data("h\u{e9}\u{1F4BE}".utf8), "h\u{e9}\u{1F4BE}"),
      (.utf8, Data([0xef, 0xbb, 0xbf, 0x61]), "\u{feff}a"),
      (.utf8, Data(), ""),
      (.ascii, Data("abc".utf8), "abc"),
      (.isoLatin1, Data([0x68, 0xe9]), "h\u{e9}"),
      (.windowsCP1252, Data([0x80, 0x61]), "\u{20ac}a"),
      (.utf16BigEndian, Data([0xd8, 0x3d, 0xdc, 0xbe, 0, 0x61]), "\u{1F4BE}a"),
      (.utf32LittleEndian, Data([0xbe, 0xf4, 0x01, 0]), "\u{1F4BE}"),
      (.shiftJIS, Data([0x83, 0x65]), "\u{30c6}"),
    ] as [(String.Encoding, Data, String)])
  func roundTrips(_ encoding: String.Encoding, _ data: Data, _ text: String) async throws {
    let transformer = StringTransformer(encoding: encoding)
    #expect(Array(try await transformer.transform(data).unicodeScalars) == Array(text.unicodeScalars))
    #expect(try await transformer.inverseTransform(text) == data)
  }

  @Test("C118 the encoding is UTF-8 if none is given")
  func utf8() { #expect(StringTransformer().encoding == .utf8) }

  @Test(
    "C119 bytes that are not text in the encoding fail",
    arguments: [
      (.utf8, Data([0x61, 0xff])), (.utf8, Data([0xc3])), (.utf8, Data([0xed, 0xa0, 0x80])), (.ascii, Data([0x80])),
      (.utf16BigEndian, Data([0xd8, 0x3d])),
    ] as [(String.Encoding, Data)])
  func undecodable(_ encoding: String.Encoding, _ data: Data) async {
    let error = await #expect(throws: CacheError.self) {
      try await StringTransformer(encoding: encoding).transform(data)
    }
    #expect(error?.code == .invalidCachedData)
  }

  @Test(
    "C119 text that the encoding cannot hold fails",
    arguments: [
      (.ascii, "h\u{e9}"), (.isoLatin1, "\u{20ac}"), (.windowsCP1252, "\u{1F4BE}"), (.shiftJIS, "\u{1F4BE}"),
    ] as [(String.Encoding, String)])
  func unencodable(_ encoding: String.Encoding, _ text: String) async {
    let error = await #expect(throws: CacheError.self) {
      try await StringTransformer(encoding: encoding).inverseTransform(text)
    }
    #expect(error?.code == .encodingFailed)
  }
}
