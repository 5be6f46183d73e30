import CacheEngine
import Testing

@Suite struct TransformerTests {
  struct Bad: Error, Equatable { var place: String }

  let number = TwoWayTransformationBox<String, Int>(
    transform: { text in
      guard let number = Int(text) else { throw Bad(place: "number") }
      return number
    },
    inverseTransform: { number in
      guard number >= 0 else { throw Bad(place: "text") }
      return String(number)
    })
  let half = TwoWayTransformationBox<Int, Double>(
    transform: { number in
      guard number < 1_000 else { throw Bad(place: "half") }
      return Double(number) / 2
    },
    inverseTransform: { number in Int(number * 2) })

  @Test("C105 C106 both directions give their result or their error")
  func bothWays() async throws {
    #expect(try await number.transform("7") == 7)
    #expect(try await number.inverseTransform(7) == "7")
    await #expect(throws: Bad(place: "number")) { try await number.transform("x") }
    await #expect(throws: Bad(place: "text")) { try await number.inverseTransform(-1) }
  }

  @Test("C107 inverting exchanges the directions and their errors")
  func inverts() async throws {
    let text = number.invert()
    #expect(try await text.transform(7) == "7")
    #expect(try await text.inverseTransform("7") == 7)
    await #expect(throws: Bad(place: "text")) { try await text.transform(-1) }
    await #expect(throws: Bad(place: "number")) { try await text.inverseTransform("x") }
  }

  @Test("C108 C109 composing applies the first and then the second, and backwards in reverse order")
  func composes() async throws {
    let both = number.compose(half)
    #expect(try await both.transform("7") == 3.5)
    #expect(try await both.inverseTransform(3.5) == "7")
    await #expect(throws: Bad(place: "number")) { try await both.transform("x") }
    await #expect(throws: Bad(place: "half")) { try await both.transform("2000") }
    await #expect(throws: Bad(place: "text")) { try await both.inverseTransform(-1) }
    let oneWay = OneWayTransformationBox<String, Int> { $0.count }.compose(OneWayTransformationBox { $0 * 10 })
    #expect(try await oneWay.transform("abc") == 30)
  }
}
