import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal

@Suite("Shade")
struct ShadeTests {
  @Test(
    "a colour becomes the nearest of the 256 that nobody sets otherwise",
    arguments: [
      (0x000000, 16), (0xffffff, 231), (0xff0000, 196), (0x5faf5f, 71), (0x57ab5a, 71), (0x808080, 244),
      (0x828282, 244),
      (0x0a0a0a, 232), (0x00afd7, 38), (0x303030, 236),
    ] as [(UInt32, Int)])
  func nearest(color: UInt32, number: Int) {
    #expect(Shade.rgb(color).number == number)
  }

  @Test("a number of the terminal's own stays what it is")
  func own() {
    #expect(Shade.own(14).number == 14)
    #expect(Shade.own(14).color == nil)
  }

  @Test("its parts are red, green and blue")
  func parts() {
    #expect(Shade.rgb(0x123456).color == Shade.Color(red: 0x12, green: 0x34, blue: 0x56))
  }
}
