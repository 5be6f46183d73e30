import CacheEngineTesting
import Synchronization
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

  @Test("No more is read than somebody takes")
  func readsAsTaken() async {
    let (read, taken, lead) = (Counter(), Counter(), Counter())
    let lines = InputLines.checkedInput(atMost: 100) { buffer in
      lead.raise(to: read.value - taken.value)
      guard read.value < 1_000 else { return 0 }
      read.add()
      buffer.replaceSubrange(..<2, with: Array("x\n".utf8))
      return 2
    }
    for await line in lines {
      #expect(line == .text("x"))
      taken.add()
    }
    #expect(taken.value == 1_000)
    #expect(lead.value <= 2)
  }

  @Test("Whoever takes no more lines ends the reading")
  func endsWithReader() async throws {
    let (reads, end) = (Counter(), Counter())
    do {
      let lines = InputLines.checkedInput(atMost: 100) { [held = Held { end.add() }] buffer in
        withExtendedLifetime(held) { reads.add() }
        buffer.replaceSubrange(..<2, with: Array("x\n".utf8))
        return 2
      }
      for await _ in lines { break }
    }
    try await turns { end.value == 1 }
    #expect(reads.value <= 3)
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func add() { count.add(1, ordering: .sequentiallyConsistent) }
  func raise(to value: Int) { count.max(value, ordering: .sequentiallyConsistent) }
}

/// Tells when nobody holds it any more.
private final class Held: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }
  deinit { end() }
}
