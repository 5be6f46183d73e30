import Testing

@testable import CacheExplorer

struct InputLinesTests {
  private func lines(_ pieces: [String], longest: Int = 8) -> [String?] {
    var assembly = LineAssembly(longest: longest)
    var lines = pieces.flatMap { assembly.add(Array($0.utf8)[...]) }
    if let rest = assembly.end() { lines.append(rest) }
    return lines.map { line in line.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("Lines are put together from whatever pieces they come in")
  func pieces() {
    #expect(lines(["a\nb\n"]) == ["a", "b"])
    #expect(lines(["a", "", "b\nc", "d"]) == ["ab", "cd"])
    #expect(lines(["\n\n", "x\n"]) == ["", "", "x"])
    #expect(lines([]) == [])
  }

  @Test("A line that is too long is told once, and nothing of it is taken for another one")
  func tooLong() {
    #expect(lines(["12345678\n123456789\nget\n"]) == ["12345678", nil, "get"])
    #expect(lines(["12345", "6789", "del all", "\nx\n"]) == [nil, "x"])
    #expect(lines(["123456789", "del"]) == [nil])
  }
}
