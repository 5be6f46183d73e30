import Testing

@testable import ExplorerText

struct FuzzyMatchTests {
  private func rank(_ query: String, in name: String) -> FuzzyMatch.Rank? { FuzzyMatch(query, in: name)?.rank }

  @Test(
    "The beginning ranks first, then the beginnings of words, then characters in this order, and all else is no match")
  func ranks() {
    #expect(rank("send", in: "send a memory warning") == .prefix)
    #expect(rank("SEND a m", in: "send a memory warning") == .prefix)
    #expect(rank("mem", in: "send a memory warning") == .wordStarts)
    #expect(rank("mem wa", in: "send a memory warning") == .wordStarts)
    #expect(rank("smw", in: "send a memory warning") == .wordStarts)
    #expect(rank("emo", in: "send a memory warning") == .subsequence)
    #expect(rank("sdg", in: "send a memory warning") == .subsequence)
    #expect(rank("wm", in: "send a memory warning") == nil)
    #expect(rank("x", in: "") == nil)
    #expect(rank("", in: "anything") == .prefix)
    #expect(rank("  ", in: "anything") == .prefix)
  }

  @Test("Among equals what says no more than was typed comes first, then what stands closer together")
  func order() throws {
    let best = ["log", "log level down", "the log", "clear every logged thing", "catalogue"]
    let matches = try best.map { try #require(FuzzyMatch("log", in: $0)) }
    #expect(matches == matches.sorted())
    #expect(Set(matches.map(\.rank)) == [.prefix, .wordStarts, .subsequence])
    let near = try #require(FuzzyMatch("ab", in: "xaxb xab"))
    #expect(near.spread == 2, "the closest of several ways counts")
  }

  @Test("A word start that leads nowhere does not hide one that leads on")
  func goesBack() {
    #expect(rank("memc", in: "memory me caches") == .wordStarts)
    #expect(rank("aab", in: "a xab ab") == .wordStarts)
  }

  @Test("Long names are compared without doing everything over and over", .timeLimit(.minutes(10)))
  func long() {
    let text = String(repeating: "ab ", count: 100_000)
    #expect(rank(String(repeating: "a", count: 10_000), in: text) == nil)
    #expect(rank(String(repeating: "ab", count: 40), in: text) == .prefix)
  }
}
