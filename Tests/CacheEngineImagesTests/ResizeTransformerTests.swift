import CacheEngine
import CacheEngineImages
import Foundation
import Testing

@Suite struct ResizeTransformerTests {
  private func gray(_ width: Int, _ height: Int, _ values: [UInt8]) -> PixelBuffer {
    PixelBuffer(width: width, height: height, bytes: values.flatMap { [$0, $0, $0, 255] })
  }

  private func values(_ image: PixelBuffer) -> [UInt8] {
    stride(from: 0, to: image.bytes.count, by: 4).map { image.bytes[$0] }
  }

  @Test(
    "C122 the image just fits into the box and keeps its proportions",
    arguments: [
      (100, 50, 10, 10, 10, 5), (50, 100, 10, 10, 5, 10), (3, 2, 30, 30, 30, 20), (1_000, 1, 10, 10, 10, 1),
      (1, 1_000, 3, 10, 1, 10), (7, 7, 7, 9, 7, 7), (640, 479, 64, 64, 64, 48), (1, 1, 5, 3, 3, 3),
    ])
  func sizes(_ width: Int, _ height: Int, _ boxWidth: Int, _ boxHeight: Int, _ newWidth: Int, _ newHeight: Int) async {
    let image = gray(width, height, [UInt8](repeating: 77, count: width * height))
    let resized = await ResizeTransformer(width: boxWidth, height: boxHeight).transform(image)
    #expect((resized.width, resized.height) == (newWidth, newHeight))
    #expect(resized.bytes.enumerated().allSatisfy { $1 == ($0 % 4 == 3 ? 255 : 77) })
  }

  @Test("C122 a smaller image has the mean of the area that each pixel covers")
  func area() {
    let board = gray(4, 4, [0, 100, 8, 8, 100, 0, 8, 8, 255, 255, 10, 20, 255, 255, 30, 40])
    #expect(values(board.resized(toFit: (2, 2))) == [50, 8, 255, 25])
    // Three pixels into two: a third of the way, the middle one is shared.
    #expect(values(gray(3, 1, [0, 90, 240]).resized(toFit: (2, 1))) == [30, 190])
  }

  @Test("C122 a larger image blends its neighbours")
  func blend() {
    #expect(values(gray(2, 1, [0, 100]).resized(toFit: (4, 2)))[..<4] == [0, 25, 75, 100])
  }

  @Test("C122 a transparent pixel lends no colour")
  func alpha() {
    let image = PixelBuffer(width: 2, height: 1, bytes: [200, 100, 0, 255, 0, 0, 255, 0])
    #expect(image.resized(toFit: (1, 1)).bytes == [200, 100, 0, 128])
    let clear = PixelBuffer(width: 2, height: 1, bytes: [9, 9, 9, 0, 8, 8, 8, 0])
    #expect(clear.resized(toFit: (1, 1)).bytes == [0, 0, 0, 0])
  }

  @Test("C122 an image of the right size stays as it is")
  func same() {
    let image = PixelBuffer(width: 2, height: 1, bytes: [9, 9, 9, 0, 8, 8, 8, 0])
    #expect(image.resized(toFit: (2, 5)) == image)
  }

  @Test("C122 as an operator it follows a decoder")
  func composes() async throws {
    let thumbnails = ImageTransformer().resized(toFit: (width: 2, height: 2))
    let thumbnail = try await thumbnails.transform(try JPEGFixture.data(JPEGFixture.color))
    let colors: [[UInt8]] = [[200, 30, 40, 255], [20, 180, 60, 255], [30, 60, 220, 255], [240, 240, 230, 255]]
    #expect(
      isNear(
        [thumbnail.pixel(0, 0), thumbnail.pixel(1, 0), thumbnail.pixel(0, 1), thumbnail.pixel(1, 1)], colors, by: 4))
  }
}
