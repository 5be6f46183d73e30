import CacheEngine
import CacheEngineTransformers
import Foundation
import Testing

@Suite struct DateTransformerTests {
  let minute = DateTransformer(format: "yyyy-MM-dd HH:mm")
  let date = Date(timeIntervalSince1970: 1_709_202_600)  // 2024-02-29 10:30 UTC

  @Test("C120 a date is written by the format and read back")
  func roundTrips() async throws {
    #expect(await minute.transform(date) == "2024-02-29 10:30")
    #expect(try await minute.inverseTransform("2024-02-29 10:30") == date)
  }

  @Test("C120 the time zone and the locale are those given")
  func zoneAndLocale() async throws {
    let tokyo = DateTransformer(
      format: "d MMMM yyyy HH:mm", timeZone: try #require(TimeZone(identifier: "Asia/Tokyo")),
      locale: Locale(identifier: "fr_FR"))
    #expect(await tokyo.transform(date) == "29 f\u{e9}vrier 2024 19:30")
    #expect(try await tokyo.inverseTransform("29 f\u{e9}vrier 2024 19:30") == date)
    await #expect(throws: CacheError.self) { try await tokyo.inverseTransform("29 February 2024 19:30") }
    let offset = DateTransformer(format: "yyyy-MM-dd'T'HH:mm:ssXXX")
    #expect(try await offset.inverseTransform("2024-02-29T12:30:00+02:00") == date)
  }

  @Test("C120 what the format leaves out is lost")
  func loses() async throws {
    let days = DateTransformer(format: "yyyy-MM-dd")
    let text = await days.transform(date)
    let day = try await days.inverseTransform(text)
    #expect(day == Date(timeIntervalSince1970: 1_709_164_800))
  }

  @Test(
    "C120 text that is not such a date fails",
    arguments: [
      "", "x", "2024-02-29", "2024-02-29 10:30 x", "2024-02-29 10:30 ", " 2024-02-29 10:30", "2024-02-29 10:30\n",
      "2024-02-30 10:30", "2023-02-29 10:30", "2024-13-01 10:30", "2024-02-29 24:30", "2024-02-29 10:60",
      "2024-02-29T10:30",
    ])
  func refuses(_ text: String) async {
    let error = await #expect(throws: CacheError.self) { try await minute.inverseTransform(text) }
    #expect(error?.code == .invalidCachedData)
    #expect(error?.message.contains("yyyy-MM-dd HH:mm") == true)
  }

  @Test("C120 one transformer serves many tasks at once")
  func concurrent() async throws {
    try await withThrowingTaskGroup(of: (Date, Date).self) { group in
      for day in 0..<200 {
        group.addTask {
          let date = Date(timeIntervalSince1970: Double(day) * 86_400)
          return (date, try await minute.inverseTransform(await minute.transform(date)))
        }
      }
      for try await (date, back) in group { #expect(date == back) }
    }
  }
}
