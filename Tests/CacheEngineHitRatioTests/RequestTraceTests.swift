import CacheEngine
import CacheEngineHitRatio
import CacheEngineTransformers
import Foundation
import TestSupport
import Testing

@Suite final class RequestTraceTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ name: String, _ data: Data) throws -> String {
    let url = folder.appending(path: name)
    try data.write(to: url)
    return url.path
  }

  private func numbers<Number: FixedWidthInteger>(_ numbers: [Number]) -> Data {
    numbers.reduce(into: Data()) { data, number in
      for byte in 0..<Number.bitWidth / 8 { data.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
    }
  }

  private func packed(_ data: Data) async throws -> Data {
    try await CompressionTransformer(.gzip).inverseTransform(data)
  }

  @Test("a text has a key on each line, whatever ends it, and comments are left out")
  func text() throws {
    let path = try file("a.txt", Data("# by hand\nuser:1\r\n\nuser:2\nuser:1\n#user:3\nkey with spaces ü".utf8))
    let trace = try RequestTrace(contentsOf: path)
    #expect(trace.keys == [0, 1, 0, 2])
    #expect(trace.distinct == 3)
    #expect(trace.sizes == nil)
  }

  @Test("a text has sizes if every line has one")
  func textSizes() throws {
    let trace = try RequestTrace(contentsOf: try file("a.txt", Data("a\t10\nb\t0\na\t4294967295\n".utf8)))
    #expect(trace.keys == [0, 1, 0])
    #expect(trace.sizes == [10, 0, .max])
  }

  @Test("numbers of 16 and 32 bits are keys, numbered by first appearance, with sizes in a file of their own")
  func binary() throws {
    let narrow = try file("a.u16", numbers([700, 5, 700] as [UInt16]))
    #expect(try RequestTrace(contentsOf: narrow).keys == [0, 1, 0])
    let wide = try file("a.u32", numbers([.max, 5, 5, .max] as [UInt32]))
    let sizes = try file("a.sizes.u32", numbers([1, 2, 3, 1 << 31] as [UInt32]))
    let trace = try RequestTrace(contentsOf: wide, sizes: sizes)
    #expect(trace.keys == [0, 1, 1, 0])
    #expect(trace.distinct == 2)
    #expect(trace.sizes == [1, 2, 3, 1 << 31])
    #expect(try RequestTrace(contentsOf: wide, format: .u16).keys.count == 8)
  }

  @Test("a packed trace is read like the one that was packed, however long it is")
  func gzip() async throws {
    let text = (0..<50_000).map { "key:\($0 * 7 % 9_001)" }.joined(separator: "\n")
    let path = try file("a.txt.gz", try await packed(Data(text.utf8)))
    let trace = try RequestTrace(contentsOf: path)
    #expect(trace.keys == RequestTrace((0..<50_000).map { $0 * 7 % 9_001 }).keys)
    let ids = (0..<40_000).map { UInt32($0 % 333) }
    #expect(try RequestTrace(contentsOf: try file("a.u32.gz", try await packed(numbers(ids)))).keys == ids)
  }

  @Test("the recorded trace of the tests can be read as it lies there")
  func recorded() throws {
    let url = try #require(Bundle.module.url(forResource: "web12", withExtension: "u16", subdirectory: "Traces"))
    let trace = try RequestTrace(contentsOf: url.path)
    #expect(trace.keys.count == 95_607)
    #expect(trace.distinct == 13_756)
  }

  @Test(
    "what cannot be read is named with its line and a remedy",
    arguments: [
      ("a\t1\nb\n", "line 2 has no size, unlike those before; give every line a size, or none"),
      ("a\n# x\nb\t3\n", "line 3 has a size, unlike those before; give every line a size, or none"),
      ("a\tbig\n", "line 1 has no size after the tab; write bytes from 0 to 4294967295, or leave the tab out"),
      ("\t1\n", "line 1 has no key before the tab; write a key first"),
      (
        LongText("a\n" + String(repeating: "x", count: 3_000_000)),
        "line 2 is longer than 1048576 bytes; end each line with a line feed, or leave it out"
      ),
      // What more is read at a time changes nothing.
      (
        LongText("a\n" + String(repeating: "x", count: 1_050_000) + "\nb\n"),
        "line 2 is longer than 1048576 bytes; end each line with a line feed, or leave it out"
      ),
    ])
  func badText(argument: LongText, message: String) throws {
    let path = try file("a.txt", Data(argument.text.utf8))
    let error = #expect(throws: CacheError.self) { try RequestTrace(contentsOf: path) }
    #expect(error?.code == .invalidTrace)
    #expect(error?.message == "\(path), \(message)")
  }

  @Test("files that are missing, cut off, damaged, or of other lengths are refused")
  func badFiles() async throws {
    func message(_ body: () throws -> RequestTrace) -> String {
      #expect(throws: CacheError.self) { try body() }?.message ?? ""
    }
    let missing = folder.appending(path: "none.u32").path
    #expect(message { try RequestTrace(contentsOf: missing) }.contains("No such file"))
    let cut = try file("cut.u32", Data([1, 2, 3, 4, 5]))
    #expect(message { try RequestTrace(contentsOf: cut) }.contains("in the middle of a number of 32 bits"))
    let whole = try await packed(Data(String(repeating: "some key\n", count: 5_000).utf8))
    let torn = try file("torn.txt.gz", whole.prefix(whole.count / 2))
    #expect(message { try RequestTrace(contentsOf: torn) }.contains("cannot be unpacked"))
    let ids = try file("ids.u32", numbers([1, 2, 3] as [UInt32]))
    let sizes = try file("sizes.u32", numbers([1, 2] as [UInt32]))
    #expect(message { try RequestTrace(contentsOf: ids, sizes: sizes) }.contains("2 sizes for 3 requests"))
    let bytes = try file("bytes.txt", Data([0xff, 0xfe, 0x0a]))
    #expect(message { try RequestTrace(contentsOf: bytes) }.contains("line 1 is not UTF-8"))
  }

  @Test("text behind what is packed is refused, zeros are passed over")
  func behindPacked() async throws {
    let whole = try await packed(Data("a\nb\n".utf8))
    let filled = try file("filled.txt.gz", whole + Data(count: 200_000))
    #expect(try RequestTrace(contentsOf: filled).keys == [0, 1])
    for rest in [Data("c\n".utf8), Data(count: 200_000) + Data("c\n".utf8), Data([0x1f])] {
      let path = try file("more.txt.gz", whole + rest)
      let error = #expect(throws: CacheError.self) { try RequestTrace(contentsOf: path) }
      #expect(error?.message.contains("what follows its end is not packed") == true)
    }
  }

  @Test(
    "text whose name ends as one of numbers does is refused, unless somebody names the format", arguments: [16, 32])
  func textAsNumbers(width: Int) throws {
    let path = try file("a.u\(width)", Data("12\n3456\n".utf8))
    let format = width == 16 ? TraceFormat.u16 : .u32
    let error = #expect(throws: CacheError.self) { try RequestTrace(contentsOf: path) }
    #expect(error?.message.contains("is text, and not numbers of \(width) bits; name the format that it has") == true)
    #expect(throws: TraceProblem.self) {
      var lines = try TraceLines(path: path)
      _ = try lines.next()
    }
    #expect(try RequestTrace(contentsOf: path, format: .text).keys == [0, 1])
    #expect(try RequestTrace(contentsOf: path, format: format).keys.count == 64 / width)
    let one = try file("one.u\(width)", Data(repeating: 0x41, count: 4))
    #expect(try RequestTrace(contentsOf: one).keys.allSatisfy { $0 == 0 })
  }
}
