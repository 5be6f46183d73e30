import CacheEngine
import CacheEngineTransformers
import Foundation
import Testing

/// `cache-explorer replay` as a process.
@Suite(.timeLimit(.minutes(10))) struct ReplayTests {
  private static let withOrigin = """
    levels:
      - memory: { count: 3 }
      - origin: { latency: 0s, size: 10 B }
    """
  private static let withoutSource = """
    levels:
      - memory: { capacity: 1 MiB }
    """

  private func statistics(_ run: Program.Run) throws -> [String: Any] {
    #expect(run.output.split(separator: "\n").count == 1)
    return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
  }

  private func level(_ name: String, of statistics: [String: Any]) throws -> [String: Any] {
    let levels = try #require(statistics["levels"] as? [[String: Any]])
    return try #require(levels.first { $0["name"] as? String == name })
  }

  @Test("what is missing is loaded from the source and stored, and the statistics are exact")
  func source() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withOrigin, to: "c.yaml")
    // LRU with room for three: a b c miss, a hits, d evicts b, b misses.
    let run = try await Program.run(
      ["replay", file, "--trace", "-", "--format", "json"], input: "# t\na\nb\t20\nc\na\nd\nb\n")
    #expect(run.status == 0, "\(run.errors)")
    let all = try statistics(run)
    let memory = try level("memory", of: all)
    #expect(memory["lookups"] as? Int == 6)
    #expect(memory["hits"] as? Int == 1)
    #expect(memory["entries"] as? Int == 3)
    #expect(try level("origin", of: all)["hits"] as? Int == 5)
    #expect(all["requests"] as? Int == 6)
    #expect(all["served"] as? [String: Int] == ["memory": 1, "origin": 5])
  }

  @Test(
    "a trace without a request is an error, though every expectation of it holds", arguments: ["", "# nothing\n\n"])
  func nothing(trace: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withOrigin, to: "c.yaml")
    let run = try await Program.run(
      ["replay", file, "--trace", "-", "--expect", "origin.requests <= 10"], input: trace)
    #expect(run.status == 2)
    #expect(run.errors == "standard input: error: there is no request in it; write a key on each line\n")
  }

  @Test("an access log is recognized, its writes are counted as skipped, and a format can be named")
  func accessLog() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withOrigin, to: "c.yaml")
    let log = ["GET /a", "POST /b", "HEAD /a"].map {
      #"10.0.0.1 - - [22/Nov/2026:20:58:29 +0000] "\#($0) HTTP/1.1" 200 12 "-" "curl/8.5.0""# + "\n"
    }.joined()
    let run = try await Program.run(["replay", file, "--trace", "-"], input: log)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix("2 requests of standard input (log), 0 failed, 1 skipped that are no reads\n"))
    let curves = try await Program.run(["replay", file, "--trace", "-", "--what-if"], input: log)
    #expect(
      curves.output.hasPrefix("standard input (log): 2 requests of 1 key; 1 skipped that are no reads"),
      "\(curves.output)")
    let text = try await Program.run(["replay", file, "--trace", "-", "--trace-format", "text"], input: log)
    #expect(text.output.hasPrefix("3 requests of standard input (text), 0 failed\n"))
    let bad = try await Program.run(["replay", file, "--trace", "-", "--trace-format", "json"], input: log)
    #expect(bad.status == 2)
    #expect(bad.errors.hasPrefix("standard input:1: error: the line is no JSON object; "))
    let unknown = try await Program.run(["replay", file, "--trace", "-", "--trace-format", "nginx"], input: log)
    #expect(unknown.errors.contains("there is no trace format “nginx”; give one of text, log, json,"))
  }

  @Test("a size of the trace is the size of the value that a simulated source gives")
  func sizes() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory: { capacity: 1 MiB }\n  - pooled: { origin: { latency: 0s, size: 10 B } }\n", to: "c.yaml")
    let run = try await Program.run(["replay", file, "--trace", "-", "--format", "json"], input: "a\t5000\nb\n")
    let memory = try level("memory", of: try statistics(run))
    let bytes = try #require(memory["bytes"] as? Int)
    #expect((5_010...5_200).contains(bytes))
  }

  @Test("without a source the client stores values of the sizes of the trace; compressed traces and files are read")
  func client() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withoutSource, to: "c.yaml")
    let text = (0..<5_000).map { "key:\($0 % 50)\t100\n" }.joined()
    let trace = folder.url.appending(path: "trace.gz")
    try await CompressionTransformer(.gzip).inverseTransform(Data(text.utf8)).write(to: trace)
    let run = try await Program.run(["replay", file, "--trace", trace.path(), "--format", "json"])
    let memory = try level("memory", of: try statistics(run))
    #expect(memory["lookups"] as? Int == 5_000)
    #expect(memory["hits"] as? Int == 4_950)
    #expect(memory["sets"] as? Int == 50)
    #expect(memory["entries"] as? Int == 50)
  }

  @Test("the times of a trace are honoured where that is asked for, at the speed that is asked for")
  func timed() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("levels:\n  - memory: { capacity: 1 MiB, expiry: 30s }\n", to: "c.yaml")
    let trace = ["00", "02"].map { "h - - [22/Nov/2026:20:\($0):00 +0000] \"GET /a HTTP/1.1\" 200 12\n" }.joined()
    for (arguments, hits) in [(["--timed", "--speed", "100"], 0), ([], 1)] {
      let run = try await Program.run(["replay", file, "--trace", "-", "--format", "json"] + arguments, input: trace)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try level("memory", of: try statistics(run))["hits"] as? Int == hits)
    }
    let none = try await Program.run(["replay", file, "--trace", "-", "--timed"], input: "a\n")
    #expect(none.status == 2 && none.errors.contains("does not say when its request came; leave --timed out"))
  }

  @Test("text tells the same in sentences")
  func text() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withOrigin, to: "c.yaml")
    let run = try await Program.run(
      ["replay", file, "--trace", "-", "--clients", "8", "--speed", "10"], input: "a\nb\n")
    #expect(run.status == 0)
    #expect(run.output.contains("2 requests of standard input (text), 0 failed"))
    #expect(run.output.contains("origin: 2 lookups, 2 hits"))
  }

  @Test("a trace that cannot be read ends with status 2, its line and the remedy")
  func problems() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.withOrigin, to: "c.yaml")
    let run = try await Program.run(["replay", file, "--trace", "-"], input: "a\nb\tbig\n")
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input:2: error: the line has “big” for a size"))
    #expect(run.errors.contains("512 KiB"))
    // A directory is opened before reading it fails.
    for trace in ["/no/such/trace", folder.url.path()] {
      let none = try await Program.run(["replay", file, "--trace", trace, "--expect", "requests > 0"])
      #expect(none.status == 2 && none.output == "")
      #expect(none.errors.hasPrefix("\(trace): error: the trace cannot be read"))
    }
    #expect(try await Program.run(["replay", file, "--trace", "-", "--clients", "0"]).status == 2)
  }

  @Test(
    "a number below zero is answered with the numbers that may be given",
    arguments: [
      (["replay", "c.yaml", "--trace", "-", "--clients", "-1"], "give --clients from 1 to 100000"),
      (["replay", "c.yaml", "--trace", "-", "--speed", "-1"], "give --speed from 0.001 to 1000"),
      (["compare", "c.yaml", "c.yaml", "--trace", "-", "--runs", "-1"], "give --runs from 2 to 1000"),
      (["serve", "c.yaml", "--origin", "http://localhost", "--body-limit", "-1"], "-1 is negative"),
      (["attach", "app", "--once", "--for", "-1s"], "-1s is negative"),
      (["attach", "redis://localhost", "--keys", "-1"], "give --keys from 1 to 100000"),
      (["open", "c.yaml", "--requests", "-1"], "give --requests from 1 on"),
      (["demo", "--seconds", "-1"], "give --seconds from 1 to 600"),
    ])
  func negative(arguments: [String], part: String) async throws {
    let run = try await Program.run(arguments)
    #expect(run.status == 2 && run.errors.contains(part), "\(run.errors)")
  }
}
