import CacheEngine
import Testing

struct DurationTextTests {
  @Test(
    "Durations are told in the unit that people use for them",
    arguments: [
      (.microseconds(1), "1 µs"), (.milliseconds(250), "250 ms"), (.milliseconds(1_500), "1.5 s"),
      (.seconds(60), "1 min"),
      (.seconds(90), "90 s"), (.seconds(7_200), "2 h"), (.seconds(86_400), "1 d"), (.zero, "0 ns"),
      (.nanoseconds(999), "999 ns"), (.nanoseconds(1_050), "1.05 µs"), (.microseconds(2_001), "2.001 ms"),
      (.nanoseconds(1_999_999_999), "2 s"), (.milliseconds(-20), "-20 ms"),
      (.seconds(Int64.max), "9223372036.855 s"), (.seconds(Int64.min), "-9223372036.855 s"),
    ] as [(Duration, String)])
  func told(_ duration: Duration, _ text: String) {
    #expect(duration.text == text)
  }
}
