import CacheEngineTesting
import CacheEngine
import CacheEngineImages
import Foundation
import Testing

@Suite struct JPEGTests {
  let transformer = ImageTransformer(encoding: .jpeg(quality: 95))
  let colors: [[UInt8]] = [[200, 30, 40, 255], [20, 180, 60, 255], [30, 60, 220, 255], [240, 240, 230, 255]]

  private func decode(_ base64: String) async throws -> PixelBuffer {
    try await transformer.transform(try JPEGFixture.data(base64))
  }

  @Test("C122 baseline and progressive files that another program wrote are read")
  func color() async throws {
    for file in [JPEGFixture.color, JPEGFixture.progressive] {
      let image = try await decode(file)
      #expect((image.width, image.height) == (16, 16))
      #expect(isNear(image.quarters, colors, by: 4))
    }
  }

  @Test("C122 gray and CMYK become RGBA")
  func otherSpaces() async throws {
    let gray: [[UInt8]] = [10, 90, 170, 250].map { [$0, $0, $0, 255] }
    #expect(isNear(try await decode(JPEGFixture.gray).quarters, gray, by: 3))
    let inks: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [127, 127, 127, 255]]
    #expect(isNear(try await decode(JPEGFixture.cmyk).quarters, inks, by: 4))
  }

  @Test("C122 what is written as JPEG comes back nearly the same, the nearer the higher the quality")
  func roundTrips() async throws {
    let image = try await decode(JPEGFixture.color)
    let fine = try await ImageTransformer(encoding: .jpeg(quality: 95)).inverseTransform(image)
    let coarse = try await ImageTransformer(encoding: .jpeg(quality: 10)).inverseTransform(image)
    #expect(isNear(try await transformer.transform(fine).quarters, colors, by: 5))
    #expect(coarse.count < fine.count)
    #expect(isNear(try await transformer.transform(coarse).quarters, colors, by: 60))
  }

  @Test("C122 what is not opaque is laid on white")
  func alpha() async throws {
    let bytes = [UInt8](repeating: 0, count: 4 * 64).enumerated().map { $0 % 4 == 3 ? UInt8(128) : $1 }
    let file = try await transformer.inverseTransform(PixelBuffer(width: 8, height: 8, bytes: bytes))
    #expect(isNear([try await transformer.transform(file).pixel(4, 4)], [[127, 127, 127, 255]], by: 2))
  }

  @Test("C122 a side that the format cannot hold fails")
  func tooWide() async throws {
    let image = PixelBuffer(width: 70_000, height: 1, bytes: [UInt8](repeating: 9, count: 280_000))
    let error = await #expect(throws: CacheError.self) { try await transformer.inverseTransform(image) }
    #expect(error?.code == .encodingFailed)
  }

  @Test("C122 a picture is turned the way its Exif orientation says", arguments: [false, true])
  func orientation(_ isLittleEndian: Bool) async throws {
    let file = try JPEGFixture.data(JPEGFixture.color)
    // The squares in reading order, after turning.
    let turned: [UInt8: [Int]] = [
      1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1], 5: [0, 2, 1, 3], 6: [2, 0, 3, 1],
      7: [3, 1, 2, 0], 8: [1, 3, 0, 2], 0: [0, 1, 2, 3], 9: [0, 1, 2, 3],
    ]
    for (orientation, order) in turned {
      let image = try await transformer.transform(
        JPEGFixture.turned(orientation, isLittleEndian: isLittleEndian, file))
      #expect(isNear(image.quarters, order.map { colors[$0] }, by: 4), "orientation \(orientation)")
    }
  }

  @Test("C122 a turned picture that is not square changes its sides")
  func turnedSides() async throws {
    var bytes: [UInt8] = []
    for y in 0..<16 { for x in 0..<32 { bytes += [x < 16 ? 250 : 5, y < 8 ? 250 : 5, 0, 255] } }
    let file = try await transformer.inverseTransform(PixelBuffer(width: 32, height: 16, bytes: bytes))
    let image = try await transformer.transform(JPEGFixture.turned(6, isLittleEndian: true, file))
    #expect((image.width, image.height) == (16, 32))
    // Turned to the right: what was at the bottom left is now at the top left.
    let expected: [[UInt8]] = [[250, 5, 0, 255], [250, 250, 0, 255], [5, 5, 0, 255], [5, 250, 0, 255]]
    #expect(isNear(image.quarters, expected, by: 6))
  }

  @Test("C122 an announced size beyond the limit is refused before memory is taken")
  func bomb() async throws {
    var file = Array(try JPEGFixture.data(JPEGFixture.color))
    let frame = try #require(file.indices.first { file[$0] == 0xff && file[$0 + 1] == 0xc0 })
    file.replaceSubrange((frame + 5)..<(frame + 9), with: [0xff, 0xdc, 0xff, 0xdc])
    let error = await #expect(throws: CacheError.self) { try await transformer.transform(Data(file)) }
    #expect(error?.message.contains("65500 × 65500 pixels") == true)
  }

  @Test("C122 every cut fails", arguments: [JPEGFixture.color, JPEGFixture.progressive, JPEGFixture.cmyk])
  func cut(_ base64: String) async throws {
    let file = try JPEGFixture.data(base64)
    for count in 0..<(file.count - 2) {
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(file.prefix(count)) }
      #expect(error?.code == .invalidCachedData)
    }
  }

  @Test("C122 bytes of another kind fail", arguments: ["", "GIF89a", "RIFF\0\0\0\0WEBP", "<svg/>"])
  func foreign(_ text: String) async {
    let error = await #expect(throws: CacheError.self) { try await transformer.transform(Data(text.utf8)) }
    #expect(error?.message == "the bytes are neither PNG nor JPEG (\(text.utf8.count) bytes)")
  }

  @Test("C122 damaged files give an image or an error")
  func fuzz() async throws {
    var random = SeededGenerator(seed: 4)
    let small = ImageTransformer(maximumPixels: 1 << 16)
    for base64 in [JPEGFixture.color, JPEGFixture.progressive, JPEGFixture.gray, JPEGFixture.cmyk] {
      let valid = JPEGFixture.turned(6, isLittleEndian: false, try JPEGFixture.data(base64))
      for _ in 0..<500 {
        var file = valid
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          file[Int.random(in: 3..<file.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
          file = file.prefix(Int.random(in: 3..<file.count, using: &random))
        }
        do {
          let image = try await small.transform(file)
          #expect(image.bytes.count == 4 * image.width * image.height)
        } catch let error as CacheError {
          #expect(error.code == .invalidCachedData)
        }
      }
    }
  }
}
