import CacheEngineTesting
import CacheEngine
import CacheEngineTransformers
import Foundation
import TestSupport
import Testing

@Suite struct NumberTransformerTests {
  let number = NumberTransformer(minimumFractionDigits: 3, maximumFractionDigits: 5)

  @Test(
    "C121 fraction digits are filled up to the minimum and rounded to the maximum",
    arguments: [
      (10.12, "10.120"), (10.12346, "10.12346"), (10.123457, "10.12346"), (10.000004, "10.000"), (0, "0.000"),
      (-1_234_567.5, "-1234567.500"), (1e21, "1000000000000000000000.000"), (0.5, "0.500"), (0.999999, "1.000"),
      // Halves that a double holds exactly.
      (0.015625, "0.01562"), (0.046875, "0.04688"),
    ])
  func writes(_ value: Double, _ text: String) async throws {
    #expect(try await number.transform(value) == text)
  }

  @Test(
    "C121 text is read back, with however many digits",
    arguments: [
      ("10.120", 10.12), ("10", 10), ("-0.5", -0.5), ("10.1234567", 10.1234567), ("-1234567.500", -1_234_567.5),
      ("0.30000000000000004", 0.1 + 0.2),
    ])
  func reads(_ text: String, _ value: Double) async throws { #expect(try await number.inverseTransform(text) == value) }

  @Test("C121 a number that needs no more digits than the maximum comes back the same")
  func roundTrips() async throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      let value = Double(Int.random(in: -10_000_000_000...10_000_000_000, using: &random)) / 100_000
      #expect(try await number.inverseTransform(try await number.transform(value)) == value)
    }
  }

  @Test(
    "C121 text that is not a number fails",
    arguments: [
      "", "x", "10.12x", "10.12 ", " 10", "1,000", "1.2.3", "--1", "+1", "1e5", "NaN", "INF", "\u{221e}", "\u{0663}",
      "10.",
      ".5", "9007199254740993", "1\n", LongText(repeating: "9", count: 400),
      LongText(repeating: "0", count: 100_000),
    ])
  func refuses(_ argument: LongText) async {
    let error = await #expect(throws: CacheError.self) { try await number.inverseTransform(argument.text) }
    #expect(error?.code == .invalidCachedData)
    #expect((error?.message.count ?? .max) < 120)
  }

  @Test("C121 a number without digits is not written", arguments: [Double.nan, .infinity, -.infinity])
  func notFinite(_ value: Double) async {
    let error = await #expect(throws: CacheError.self) { try await number.transform(value) }
    #expect(error?.code == .encodingFailed)
  }

  @Test(
    "C121 digits and signs are those of the locale",
    arguments: [
      ("de_DE", "-1234567,500"),
      ("ar_EG", "\u{61c}-\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}\u{667}\u{66b}\u{665}\u{660}\u{660}"),
      ("sv_SE", "\u{2212}1234567,500"),
    ])
  func locales(_ identifier: String, _ text: String) async throws {
    let local = NumberTransformer(
      minimumFractionDigits: 3, maximumFractionDigits: 5, locale: Locale(identifier: identifier))
    #expect(try await local.transform(-1_234_567.5) == text)
    #expect(try await local.inverseTransform(text) == -1_234_567.5)
    await #expect(throws: CacheError.self) { try await local.inverseTransform("1.5") }
  }
}
