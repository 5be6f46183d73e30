import CacheEngine
import CacheEngineHitRatio
import CacheEngineTransformers
import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState

struct TraceReaderTests {
  private func read(_ bytes: Data, in folder: borrowing TemporaryFolder) throws -> [TraceReader.Request] {
    let file = folder.url.appending(path: "trace")
    try bytes.write(to: file)
    let reader = try TraceReader(path: file.path())
    var requests: [TraceReader.Request] = []
    while let request = try reader.next() { requests.append(request) }
    return requests
  }

  @Test("A line is a key, or a key and a size; comments and empty lines are passed over")
  func lines() throws {
    let folder = try TemporaryFolder()
    let text = "# a comment\nuser:1\nimg/hero 2x\t4096\r\n\nkey#2\t4 KiB\nempty\t0\nfeed:日本語"
    #expect(
      try read(Data(text.utf8), in: folder) == [
        .init(key: "user:1"), .init(key: "img/hero 2x", size: 4_096), .init(key: "key#2", size: 4_096),
        .init(key: "empty", size: 0), .init(key: "feed:日本語"),
      ])
    #expect(try read(Data(), in: folder).isEmpty)
  }

  @Test(
    "Traces that say when a request came are asked for it, in every format that does",
    arguments: [
      (
        "log",
        #"h - - [22/Nov/2026:20:58:29 +0000] "GET /a HTTP/1.1" 200 1"# + "\n"
          + #"h - - [22/Nov/2026:23:58:31 +0300] "GET /b HTTP/1.1" 200 1"# + "\n"
          + #"h - - [29/Feb/2024:00:00:00 -0130] "GET /c HTTP/1.1" 200 1"#,
        [1_795_381_109, 1_795_381_111, 1_709_170_200]
      ),
      ("json", #"{"key":"a","time":12.5}"# + "\n" + #"{"key":"b","ts":1795381109000}"#, [12.5, 1_795_381_109]),
      (
        "json",
        #"{"key":"a","time":"2026-11-22T20:58:29Z"}"# + "\n" + #"{"key":"b","time":"2026-11-22T21:58:31+01:00"}"#,
        [1_795_381_109, 1_795_381_111]
      ),
      ("csv", "time,key,size\n5,a,1\n7,b,1\n", [5, 7]), ("csv", "5,a,1\n", [5]),
      ("twitter", "3,key,3,4,1,get,0\n", [3]),
    ])
  func times(format: String, text: String, seconds: [Double]) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(text, to: "trace")
    let reader = try TraceReader(path: file, format: TraceFormat(rawValue: format), isTimed: true)
    var times: [Duration] = []
    while let request = try reader.next() { times.append(try #require(request.time)) }
    #expect(times == seconds.map { .seconds($0) })
  }

  @Test("Who asks for times of a trace that has none is told where, and to leave that")
  func noTimes() throws {
    let folder = try TemporaryFolder()
    for (text, line) in [("a\n", 1), ("{\"key\":\"a\",\"time\":1}\n{\"key\":\"b\"}\n", 2)] {
      let reader = try TraceReader(path: try folder.write(text, to: "trace"), isTimed: true)
      let problem = try #require(throws: TraceProblem.self) { while try reader.next() != nil {} }
      #expect(problem.line == line && problem.remedy == "leave --timed out")
    }
  }

  @Test("An answer in a log that is larger than any value ends nothing: it is as large as a value may be")
  func largeAnswers() throws {
    let folder = try TemporaryFolder()
    let log = ["9000000000", "99999999999999999999", "7"].map {
      "h - - [22/Nov/2026:20:58:29 +0000] \"GET /a HTTP/1.1\" 200 \($0)\n"
    }.joined()
    #expect(try read(Data(log.utf8), in: folder).map(\.size) == [64 << 20, 64 << 20, 7])
  }

  @Test("Who was told that nothing changed gets a value of the size that it had last")
  func unchanged() throws {
    let folder = try TemporaryFolder()
    let log = [(304, 0), (200, 7_000), (304, 0), (206, 5)].map {
      "h - - [22/Nov/2026:20:58:29 +0000] \"GET /a HTTP/1.1\" \($0.0) \($0.1)\n"
    }.joined()
    #expect(try read(Data(log.utf8), in: folder).map(\.size) == [nil, 7_000, 7_000, 7_000])
  }

  @Test("A compressed trace is read as what is in it, several members one after the other")
  func compressed() async throws {
    let folder = try TemporaryFolder()
    let first = (0..<40_000).map { "key:\($0 % 977)\t\($0 % 5_000)\n" }.joined()
    let gzip = CompressionTransformer(.gzip)
    let bytes = try await gzip.inverseTransform(Data(first.utf8)) + gzip.inverseTransform(Data("last\n".utf8))
    let requests = try read(bytes, in: folder)
    #expect(requests.count == 40_001)
    #expect(requests == (try read(Data((first + "last\n").utf8), in: folder)))
  }

  @Test(
    "What cannot be read is told with its line and what to do",
    arguments: [
      ("a\nb\tmuch\n", 2, "size"), ("a\tb\tc\n", 1, "fields"), ("\t5\n", 1, "no key"),
      ("# x\n\na\t65 MiB", 3, "64 MiB"),
      (String(repeating: "k", count: 1_100_000), 1, "bytes"),
    ])
  func problems(text: String, line: Int, part: String) throws {
    let folder = try TemporaryFolder()
    let problem = try #require(throws: TraceProblem.self) { try read(Data(text.utf8), in: folder) }
    #expect(problem.line == line)
    #expect(problem.description.contains(part))
    #expect(problem.description.contains(":\(line): error: "))
    #expect(!problem.remedy.isEmpty)
  }

  @Test("A key that is not UTF-8, and a compressed trace that is cut or damaged, are told")
  func damaged() async throws {
    let folder = try TemporaryFolder()
    #expect(throws: TraceProblem.self) { try read(Data([0x61, 0x0a, 0xff, 0x0a]), in: folder) }
    let whole = try await CompressionTransformer(.gzip).inverseTransform(
      Data((0..<9_000).map { "key:\($0 &* 7_919 % 10_007)\n" }.joined().utf8))
    let cut = try #require(throws: TraceProblem.self) { try read(whole.dropLast(20), in: folder) }
    #expect(cut.message.contains("too early"))
    var broken = whole
    for index in 5_000..<5_100 { broken[index] = 0xff }
    let torn = try #require(throws: TraceProblem.self) { try read(broken, in: folder) }
    #expect(torn.message.contains("cannot be unpacked") && !torn.message.contains("<fd:"))
    #expect(throws: TraceProblem.self) { try TraceReader(path: "/no/such/trace") }
    let directory = try TraceReader(path: folder.url.path())
    #expect(throws: TraceProblem.self) { try directory.next() }
  }
}
