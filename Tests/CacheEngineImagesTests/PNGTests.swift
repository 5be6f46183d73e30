import CacheEngineTesting
import CacheEngine
import CacheEngineTransformers
@testable import CacheEngineImages
import Foundation
import Testing

@Suite struct PNGTests {
  let transformer = ImageTransformer()

  private func pixels(_ maker: PNGMaker) async throws -> [[UInt8]] {
    let image = try await transformer.transform(try await maker.file())
    #expect((image.width, image.height) == (maker.width, maker.height))
    return stride(from: 0, to: image.bytes.count, by: 4).map { Array(image.bytes[$0..<($0 + 4)]) }
  }

  @Test("C122 an image written as PNG comes back the same, colours under transparency too")
  func roundTrips() async throws {
    var random = SeededGenerator(seed: 1)
    for (width, height) in [(1, 1), (7, 3), (64, 64), (1, 300)] {
      let bytes = (0..<(4 * width * height)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let image = PixelBuffer(width: width, height: height, bytes: bytes)
      let file = try await transformer.inverseTransform(image)
      #expect(try await transformer.transform(file) == image)
    }
  }

  @Test("C122 every kind of pixel becomes RGBA of eight bits")
  func kinds() async throws {
    let red: [UInt8] = [255, 0, 0, 255]
    var maker = PNGMaker(width: 2, height: 1, colorType: 2, samples: [[255, 0, 0], [1, 2, 3]])
    #expect(try await pixels(maker) == [red, [1, 2, 3, 255]])
    maker = PNGMaker(width: 2, height: 1, colorType: 6, samples: [[255, 0, 0, 255], [9, 8, 7, 1]])
    #expect(try await pixels(maker) == [red, [9, 8, 7, 1]])
    maker = PNGMaker(width: 2, height: 1, colorType: 0, samples: [[5], [200]])
    #expect(try await pixels(maker) == [[5, 5, 5, 255], [200, 200, 200, 255]])
    maker = PNGMaker(width: 2, height: 1, colorType: 4, samples: [[5, 6], [200, 255]])
    #expect(try await pixels(maker) == [[5, 5, 5, 6], [200, 200, 200, 255]])
    maker = PNGMaker(width: 3, height: 1, bitDepth: 1, colorType: 0, samples: [[1], [0], [1]])
    #expect(try await pixels(maker) == [255, 0, 255].map { [$0, $0, $0, 255] })
    maker = PNGMaker(width: 2, height: 2, bitDepth: 4, colorType: 0, samples: [[0], [5], [10], [15]])
    #expect(try await pixels(maker) == [0, 85, 170, 255].map { [$0, $0, $0, 255] })
  }

  @Test("C122 a palette is looked up, with the alpha of its colours, and gray can name the transparent one")
  func palette() async throws {
    var maker = PNGMaker(width: 3, height: 1, bitDepth: 2, colorType: 3, samples: [[0], [1], [2]])
    maker.chunks = [("PLTE", [255, 0, 0, 0, 255, 0, 0, 0, 255]), ("tRNS", [0, 128])]
    #expect(try await pixels(maker)[1...] == [[0, 255, 0, 128], [0, 0, 255, 255]])
    #expect(try await pixels(maker)[0][3] == 0)
    maker = PNGMaker(width: 2, height: 1, colorType: 0, chunks: [("tRNS", [0, 5])], samples: [[5], [6]])
    #expect(try await pixels(maker).map { $0[3] } == [0, 255])
  }

  @Test("C122 sixteen bits are rounded to eight, straight through unless a gamma says otherwise")
  func sixteenBits() async throws {
    var maker = PNGMaker(
      width: 2, height: 1, bitDepth: 16, colorType: 2, samples: [[0xabcd, 0, 0xffff], [257, 514, 771]])
    #expect(isNear(try await pixels(maker), [[171, 0, 255, 255], [1, 2, 3, 255]], by: 1))
    maker = PNGMaker(width: 1, height: 1, bitDepth: 16, colorType: 6, samples: [[0x8080, 0x4040, 0, 0x8080]])
    #expect(isNear(try await pixels(maker), [[128, 64, 0, 128]], by: 1))
  }

  @Test("C122 a gamma is honoured")
  func gamma() async throws {
    // 100000 says that the samples are linear; half the light is 188 in sRGB, 186 in a plain power of 2.2.
    let linear: [UInt8] = [0, 1, 0x86, 0xa0]
    let maker = PNGMaker(width: 1, height: 1, colorType: 0, chunks: [("gAMA", linear)], samples: [[128]])
    #expect(isNear(try await pixels(maker), [[188, 188, 188, 255]], by: 2))
  }

  #if !canImport(ImageIO)
  @Test("C122 texts in a file, which libpng would unpack to any size, do not reach it; all else does")
  func texts() async throws {
    let gamma: (String, [UInt8]) = ("gAMA", [0, 1, 0x86, 0xa0])
    var maker = PNGMaker(width: 1, height: 1, colorType: 0, chunks: [gamma], samples: [[128]])
    let plain = try await maker.file()
    let long = try await CompressionTransformer(.zlib).inverseTransform(Data(count: 1 << 20))
    maker.chunks = [("tEXt", Array("a\0b".utf8)), gamma, ("zTXt", Array("a\0\0".utf8) + long)]
    maker.chunks.append(("iTXt", Array("a\0\u{1}\0\0\0".utf8) + long))
    #expect(PNGCodec.withoutTexts(try await maker.file()) == plain)
    #expect(isNear(try await pixels(maker), [[188, 188, 188, 255]], by: 2))
  }

  @Test("C122 a bit that flips before the end fails, also where libpng would go on without transparency or gamma")
  func flips() async throws {
    var maker = PNGMaker(width: 3, height: 1, bitDepth: 2, colorType: 3, samples: [[0], [1], [2]])
    maker.chunks = [("gAMA", [0, 0, 0xb1, 0x8f]), ("PLTE", Array(repeating: 9, count: 9)), ("tRNS", [0, 128])]
    let file = try await maker.file()
    _ = try await transformer.transform(file)
    for bit in (8 * 8)..<(8 * (file.count - 12)) {
      var bytes = Array(file)
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let damaged = Data(bytes)
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(damaged) }
      #expect(error?.code == .invalidCachedData, "bit \(bit)")
    }
  }
  #endif

  @Test("C122 an interlaced image is put together")
  func interlaced() async throws {
    let samples = (0..<99).map { [$0, 2 * $0, 255 - $0] }
    let plain = PNGMaker(width: 11, height: 9, colorType: 2, samples: samples)
    var interlaced = plain
    interlaced.isInterlaced = true
    #expect(try await pixels(interlaced) == (try await pixels(plain)))
    #expect(try await pixels(plain)[98] == [98, 196, 157, 255])
  }

  @Test("C122 an announced size beyond the limit is refused before memory is taken")
  func bomb() async throws {
    for (width, height) in [(30_000, 30_000), (999_999, 999_999), (1 << 30, 1 << 30), (0x7fff_ffff, 1)] {
      let file = PNGMaker(width: width, height: height, colorType: 6).file(pixels: Data([0x78, 0x9c]))
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(file) }
      #expect(error?.code == .invalidCachedData)
    }
    let small = ImageTransformer(maximumPixels: 15)
    let file = try await PNGMaker(width: 4, height: 4, colorType: 0, samples: Array(repeating: [1], count: 16)).file()
    let error = await #expect(throws: CacheError.self) { try await small.transform(file) }
    #expect(error?.message.contains("4 × 4 pixels, more than the 15 allowed") == true)
    let image = try await transformer.transform(file)
    let writing = await #expect(throws: CacheError.self) { try await small.inverseTransform(image) }
    #expect(writing?.code == .encodingFailed)
  }

  @Test("C122 a file without pixels, without its end or with the wrong sizes fails")
  func malformed() async throws {
    let maker = PNGMaker(width: 4, height: 4, colorType: 0, samples: Array(repeating: [1], count: 16))
    let pixels = try await CompressionTransformer(.zlib).inverseTransform(Data(maker.scanlines()))
    var files = [
      maker.file(pixels: pixels, ends: false), maker.file(pixels: Data()), maker.file(pixels: pixels.dropLast(9)),
    ]
    for (width, height) in [(0, 4), (4, 0), (4, 5)] {
      files.append(PNGMaker(width: width, height: height, colorType: 0).file(pixels: pixels))
    }
    for file in files {
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(file) }
      #expect(error?.code == .invalidCachedData)
    }
  }

  @Test("C122 every cut fails")
  func cut() async throws {
    let image = PixelBuffer(width: 5, height: 5, bytes: (0..<100).map { UInt8($0) })
    let file = try await transformer.inverseTransform(image)
    for count in 0..<file.count {
      let error = await #expect(throws: CacheError.self) { try await transformer.transform(file.prefix(count)) }
      #expect(error?.code == .invalidCachedData)
    }
  }

  @Test("C122 damage behind right checksums gives an image or an error")
  func fuzz() async throws {
    var random = SeededGenerator(seed: 2)
    let small = ImageTransformer(maximumPixels: 1 << 16)
    for _ in 0..<1_500 {
      var maker = PNGMaker(width: 9, height: 7, colorType: [0, 2, 3, 4, 6, 5].randomElement(using: &random) ?? 0)
      maker.samples = Array(repeating: [1, 2, 3, 4], count: 63)
      maker.bitDepth = [1, 2, 4, 8, 16, 3].randomElement(using: &random) ?? 8
      maker.isInterlaced = Bool.random(using: &random)
      let junk = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      maker.chunks = [
        (["PLTE", "tRNS", "gAMA", "iCCP", "bKGD", "cHRM", "sBIT", "zTXt"].randomElement(using: &random) ?? "", junk)
      ]
      if maker.colorType == 3 { maker.chunks.insert(("PLTE", Array(repeating: 9, count: 12)), at: 0) }
      var lines = maker.scanlines()
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        lines[Int.random(in: lines.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var pixels = try await CompressionTransformer(.zlib).inverseTransform(Data(lines))
      if Bool.random(using: &random) {
        pixels[Int.random(in: pixels.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      if Bool.random(using: &random) { maker.width = Int.random(in: 1...30, using: &random) }
      do {
        let image = try await small.transform(maker.file(pixels: pixels))
        #expect(image.bytes.count == 4 * maker.width * maker.height)
      } catch let error as CacheError {
        #expect(error.code == .invalidCachedData)
      }
    }
  }
}
