import CacheEngine
import Testing
@testable import CacheCore

@Suite struct PressureReadingTests {
  private let settings = KernelPressureSettings()

  private func text(some: String, full: String?) -> String {
    let first = "some avg10=\(some) avg60=99.00 avg300=99.00 total=123456\n"
    return first + (full.map { "full avg10=\($0) avg60=99.00 avg300=99.00 total=1\n" } ?? "")
  }

  @Test("The ten-second averages are read, and nothing else", arguments: ["0.00", "9.99", "100.00"])
  func reads(average: String) throws {
    let reading = try #require(PressureReading(text(some: average, full: "1.50")))
    #expect(reading.some == Double(average))
    #expect(reading.full == 1.5)
  }

  @Test("Without a line for full stalls they count as none")
  func someOnly() throws {
    #expect(try #require(PressureReading(text(some: "3.00", full: nil))).full == 0)
  }

  @Test(
    "What is no pressure file is no reading",
    arguments: ["", "some", "some avg10=", "some avg10=x", "somewhat avg10=1.00", "full avg10=1.00", "0::/\n"])
  func refuses(text: String) {
    #expect(PressureReading(text) == nil)
  }

  @Test("A share of the window as large as the threshold's is pressure")
  func judges() throws {
    func pressure(_ some: String, _ full: String) throws -> MemoryPressure? {
      try #require(PressureReading(text(some: some, full: full))).pressure(by: settings)
    }
    #expect(try pressure("9.99", "9.99") == nil)
    #expect(try pressure("10.00", "0.00") == .warning)
    #expect(try pressure("99.00", "9.99") == .warning)
    #expect(try pressure("10.00", "10.00") == .critical)
  }

  @Test("A threshold is written as the kernel wants it")
  func trigger() {
    #expect(PressureThreshold(.some, stall: .milliseconds(150), within: .seconds(1)).trigger == "some 150000 1000000")
    #expect(PressureThreshold(.full, stall: .microseconds(1), within: .seconds(10)).trigger == "full 1 10000000")
  }

  @Test("A limit that was met is a warning, running out of memory is critical, and what is old is neither")
  func events() {
    let before = GroupEvents("low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 0\n")
    #expect(before == GroupEvents("high 0\nmax 5\noom 9\n"))
    func pressure(_ text: String) -> MemoryPressure? { GroupEvents(text).pressure(since: before) }
    #expect(pressure("low 900\nhigh 2\nmax 3\noom 4\noom_kill 5\n") == nil)
    #expect(pressure("low 1\nhigh 3\nmax 3\noom 4\noom_kill 5\n") == .warning)
    #expect(pressure("low 1\nhigh 2\nmax 4\noom 4\noom_kill 5\n") == .warning)
    #expect(pressure("low 1\nhigh 3\nmax 4\noom 5\noom_kill 5\n") == .critical)
    #expect(pressure("low 1\nhigh 2\nmax 3\noom 4\noom_kill 6\n") == .critical)
    #expect(pressure("high 2\nmax x\nnonsense\n\n") == nil)
  }
}
