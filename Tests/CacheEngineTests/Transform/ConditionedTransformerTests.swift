import CacheEngine
import Testing

@Suite struct ConditionedTransformerTests {
  struct Broken: Error {}

  let number = TwoWayTransformationBox<String, Int>(
    transform: { text in
      guard let number = Int(text) else { throw Broken() }
      return number
    },
    inverseTransform: { number in
      guard number >= 0 else { throw Broken() }
      return String(number)
    })

  /// Asks the key first, then the value.
  let keyed = ConditionedTwoWayTransformationBox<String, String, Int>(
    conditionalTransform: { key, text in
      guard key.hasPrefix("in") else { throw CacheError(.conditionNotSatisfied, "not inwards") }
      guard let number = Int(text) else { throw Broken() }
      return number + key.count
    },
    inverseConditionalTransform: { key, number in
      guard key.hasSuffix("out") else { throw CacheError(.conditionNotSatisfied, "not outwards") }
      guard number >= 0 else { throw Broken() }
      return String(number - key.count)
    })

  private func code(of work: () async throws -> some Sendable) async -> CacheError.Code? {
    await #expect(throws: CacheError.self) { try await work() }?.code
  }

  @Test("C110 a condition that holds lets the value through, and a failing transform still fails")
  func holds() async throws {
    let short = OneWayTransformationBox(transform: { try await number.transform($0) }).conditioned { $0.count < 3 }
    #expect(try await short.transform("12") == 12)
    await #expect(throws: Broken.self) { try await short.transform("x") }
  }

  @Test("C110 where it does not hold the transform is not asked and the error says so")
  func refuses() async {
    let never = OneWayTransformationBox<String, Int> { _ in
      Issue.record("the transform was asked")
      return 0
    }
    #expect(await code { try await never.conditioned { _ in false }.transform("1") } == .conditionNotSatisfied)
    await #expect(throws: Broken.self) { try await never.conditioned { _ in throw Broken() }.transform("1") }
  }

  @Test("C111 each direction of a two-way transformer has a condition of its own")
  func twoWay() async throws {
    let forward = number.conditioned({ _ in true }, inverse: { _ in false })
    #expect(try await forward.transform("7") == 7)
    #expect(await code { try await forward.inverseTransform(7) } == .conditionNotSatisfied)
    let backward = number.conditioned({ _ in false }, inverse: { $0 != 3 })
    #expect(await code { try await backward.transform("7") } == .conditionNotSatisfied)
    #expect(try await backward.inverseTransform(7) == "7")
    #expect(await code { try await backward.inverseTransform(3) } == .conditionNotSatisfied)
    await #expect(throws: Broken.self) { try await backward.inverseTransform(-1) }
  }

  @Test("C111 a condition's own error passes, in either direction")
  func twoWayErrors() async {
    let broken = number.conditioned({ _ in throw Broken() }, inverse: { _ in throw Broken() })
    await #expect(throws: Broken.self) { try await broken.transform("7") }
    await #expect(throws: Broken.self) { try await broken.inverseTransform(7) }
  }

  @Test("C112 a box from closures is given key and value, and succeeds, fails or refuses the key")
  func fromClosures() async throws {
    let box = ConditionedOneWayTransformationBox<String, String, Int> {
      try await keyed.conditionalTransform(key: $0, value: $1)
    }
    #expect(try await box.conditionalTransform(key: "in", value: "40") == 42)
    await #expect(throws: Broken.self) { try await box.conditionalTransform(key: "in", value: "x") }
    #expect(await code { try await box.conditionalTransform(key: "out", value: "1") } == .conditionNotSatisfied)
  }

  @Test("C113 a box from a plain transformer ignores the key")
  func fromPlain() async throws {
    let oneWay = ConditionedOneWayTransformationBox<String, String, Int>(number)
    let twoWay = ConditionedTwoWayTransformationBox<String, String, Int>(number)
    for key in ["", "a", "anything"] {
      #expect(try await oneWay.conditionalTransform(key: key, value: "5") == 5)
      #expect(try await twoWay.conditionalTransform(key: key, value: "5") == 5)
      #expect(try await twoWay.inverseConditionalTransform(key: key, value: 5) == "5")
    }
    await #expect(throws: Broken.self) { try await oneWay.conditionalTransform(key: "a", value: "x") }
    await #expect(throws: Broken.self) { try await twoWay.inverseConditionalTransform(key: "a", value: -1) }
  }

  @Test("C114 the inverse is given key and value too, and succeeds, fails or refuses the key")
  func inverse() async throws {
    #expect(try await keyed.inverseConditionalTransform(key: "out", value: 45) == "42")
    await #expect(throws: Broken.self) { try await keyed.inverseConditionalTransform(key: "out", value: -1) }
    #expect(await code { try await keyed.inverseConditionalTransform(key: "in", value: 1) } == .conditionNotSatisfied)
  }

  @Test("C114 inverted, each direction keeps its condition on the key")
  func inverted() async throws {
    let inverted = keyed.invert()
    #expect(try await inverted.conditionalTransform(key: "out", value: 45) == "42")
    #expect(await code { try await inverted.conditionalTransform(key: "in", value: 1) } == .conditionNotSatisfied)
    #expect(try await inverted.inverseConditionalTransform(key: "in", value: "40") == 42)
    #expect(
      await code { try await inverted.inverseConditionalTransform(key: "out", value: "1") } == .conditionNotSatisfied)
  }

  @Test("C108 C109 C112 C114 composed, both are given the key, and backwards they run in reverse order")
  func composes() async throws {
    let halved = ConditionedTwoWayTransformationBox<String, Int, Double>(
      conditionalTransform: { key, number in
        guard key.contains("half") else { throw CacheError(.conditionNotSatisfied, "whole") }
        return Double(number) / 2
      },
      inverseConditionalTransform: { _, half in Int(half * 2) })
    let both = keyed.compose(halved)
    #expect(try await both.conditionalTransform(key: "in half", value: "1") == 4)
    #expect(try await both.inverseConditionalTransform(key: "half out", value: 4.5) == "1")
    #expect(await code { try await both.conditionalTransform(key: "in", value: "1") } == .conditionNotSatisfied)
    #expect(await code { try await both.conditionalTransform(key: "half", value: "1") } == .conditionNotSatisfied)
    await #expect(throws: Broken.self) { try await both.inverseConditionalTransform(key: "out", value: -1) }

    let oneWay = ConditionedOneWayTransformationBox<String, String, String> { key, text in text + key.suffix(1) }
      .compose(ConditionedOneWayTransformationBox { key, text in key.prefix(1) + text })
    #expect(try await oneWay.conditionalTransform(key: "ab", value: "-") == "a-b")
  }
}
