import CacheEngineImages
import Foundation
import TestSupport
import Testing

/// The service that makes thumbnails.
@Suite(.timeLimit(.minutes(5)))
struct ThumbnailServiceTests {
  private let pictures = DiskFolder()
  private let thumbnails = DiskFolder()

  private func draw(_ name: String, width: Int, height: Int) async throws {
    try FileManager.default.createDirectory(atPath: pictures.path, withIntermediateDirectories: true)
    let image = PixelBuffer(width: width, height: height, bytes: Array(repeating: 0xff, count: width * height * 4))
    try pictures.write(try await ImageTransformer().inverseTransform(image), to: name)
  }

  private func run(_ names: String...) async throws -> ExampleRun {
    try await ExampleRun("ThumbnailService", [pictures.path, thumbnails.path] + names)
  }

  @Test("However many ask for a thumbnail at once, it is made once, and it is kept for the next process")
  func once() async throws {
    try await draw("wide.png", width: 200, height: 100)
    try await draw("high.png", width: 30, height: 300)
    let first = try await run("wide.png", "wide.png", "high.png", "wide.png", "high.png", "wide.png")
    #expect(
      first.output.split(separator: "\n") == [
        "wide.png 64x32", "wide.png 64x32", "high.png 6x64", "wide.png 64x32", "high.png 6x64", "wide.png 64x32",
      ])
    #expect(first.errors == "2 made\n")
    #expect(first.status == 0)
    let second = try await run("wide.png", "high.png")
    #expect(second.output == "wide.png 64x32\nhigh.png 6x64\n")
    #expect(second.errors == "0 made\n")
  }

  @Test("A picture is found by its name, whatever that would be in an address")
  func names() async throws {
    try await draw("día 1 100%.png", width: 64, height: 32)
    #expect(try await run("día 1 100%.png").output == "día 1 100%.png 64x32\n")
  }

  @Test("A picture that is not there, is broken or lies elsewhere is told, and the others are given")
  func refusals() async throws {
    try await draw("good.png", width: 64, height: 64)
    try pictures.write(Data("no picture".utf8), to: "broken.png")
    let run = try await run("absent.png", "../good.png", "../\u{301}", "good.png", "broken.png")
    #expect(run.output == "good.png 64x64\n")
    let errors = run.errors.split(separator: "\n")
    #expect(errors.count == 5)
    #expect(
      ["absent.png", "../good.png", "../\u{301}", "broken.png"].enumerated().allSatisfy {
        errors[$0].hasPrefix("error: \($1): ")
      })
    #expect(errors[2].hasSuffix("that is not the name of a picture"), "\(errors)")
    #expect(run.status == 66)
  }
}
