#if Explorer
import Foundation
import Testing

@testable import CacheTorture

/// A harness that finds nothing must be known to find something.
@Suite struct HistoryTests {
  private func history(_ text: String) -> History { History(text: text) }

  private func value(_ number: Int, _ key: String, _ length: Int) -> Data {
    History.value(.init(number: number, key: key, work: .set(length: length)))
  }

  @Test("an acknowledged value must be there, whole, and the newest")
  func acknowledged() {
    let history = history("i 1 set k 100\na 1\ni 2 set k 200\na 2\n")
    #expect(history.objection(to: value(2, "k", 200), for: "k", mayEvict: false) == nil)
    #expect(history.objection(to: value(1, "k", 100), for: "k", mayEvict: false) != nil)
    #expect(history.objection(to: nil, for: "k", mayEvict: false) != nil)
    #expect(history.objection(to: nil, for: "k", mayEvict: true) == nil)
    var torn = value(2, "k", 200)
    torn[150] ^= 1
    #expect(history.objection(to: torn, for: "k", mayEvict: true) != nil)
    #expect(history.objection(to: torn.prefix(190), for: "k", mayEvict: true) != nil)
  }

  @Test("a value of another key is never right")
  func otherKey() {
    let history = history("i 1 set k 100\na 1\ni 2 set l 100\na 2\n")
    #expect(history.objection(to: value(2, "l", 100), for: "k", mayEvict: true) != nil)
  }

  @Test("an operation without an answer may have happened, a failed one may not")
  func unanswered() {
    let history = history("i 1 set k 100\na 1\ni 2 set k 200\nf 2\ni 3 set k 300\ni 4 rem")
    #expect(history.allowed("k", mayEvict: false) == [1, 3])
  }

  @Test("an acknowledged removal or clear takes everything before it")
  func removals() {
    #expect(history("i 1 set k 9\na 1\ni 2 remove k\na 2\n").allowed("k", mayEvict: false) == [nil])
    #expect(history("i 1 set k 9\na 1\ni 2 clear *\na 2\n").allowed("k", mayEvict: false) == [nil])
    #expect(history("i 1 set k 9\na 1\ni 2 clear *\nf 2\n").allowed("k", mayEvict: false) == [1, nil])
  }

  @Test("what is written is what is read")
  func roundTrip() throws {
    let path = try Disk.makeTemporary()
    defer { Disk.remove(path) }
    let recorder = try Recorder(appendingTo: path + "/log")
    let operation = recorder.begin("0/1", .set(length: 77))
    recorder.end(operation, .acknowledged)
    recorder.end(recorder.begin("0/2", .remove), .failed)
    _ = recorder.begin("*", .clear)
    let read = History(text: try Disk.text(of: path + "/log"))
    #expect(read.operations == recorder.history.operations)
    #expect(read.order == recorder.history.order)
  }
}
#endif
