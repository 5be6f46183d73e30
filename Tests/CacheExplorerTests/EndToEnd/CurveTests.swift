import CacheEngine
import CacheEngineHitRatio
import Foundation
import Testing

/// `cache-explorer replay --what-if` as a process.
@Suite(.timeLimit(.minutes(10))) struct CurveTests {
  private static let counted = """
    levels:
      - memory: { count: 100, policy: lru }
      - origin: { latency: 0s, size: 10 B }
    """
  private static let weighed = """
    levels:
      - memory: { capacity: 10 KiB, policy: sieve }
    """

  private let keys = (0..<6_000).map { $0 % 150 }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test(
    "the whole curve of every policy and of the optimum is the full simulation, as JSON, as a picture and as a table")
  func curve() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.counted, to: "c.yaml")
    let trace = try folder.write(keys.map { "key:\($0)" }.joined(separator: "\n"), to: "trace")
    let (svg, json) = (folder.url.appending(path: "a.svg"), folder.url.appending(path: "a.json"))
    let arguments = ["replay", file, "--trace", trace, "--what-if", "--svg", svg.path(), "--json", json.path()]
    let run = try await Program.run(arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("6 000 requests of 150 keys"))
    #expect(run.output.contains("memory: lru 100 entries, hit rate 0.0%"))
    #expect(run.output.contains("◀ now"))
    #expect(run.output.contains("┊ now"))

    let written = try object(String(contentsOf: json, encoding: .utf8))
    let capacities = try #require(written["capacities"] as? [Int])
    #expect(capacities.contains(100) && capacities.first == 2 && capacities.last == 800)
    let rates = try #require(written["hitRates"] as? [String: [Double]])
    #expect(Set(rates.keys) == Set(Eviction.all.map(\.name) + ["opt"]))
    let compact = RequestTrace(keys)
    for (name, values) in rates {
      let policy = try #require(SimulatedPolicy(rawValue: name))
      for (capacity, value) in zip(capacities, values) {
        let exact = HitRatio.simulate(policy: policy, capacity: capacity, trace: compact).value
        #expect(abs(value - exact) < 0.000_1, "\(name) at \(capacity)")
      }
    }
    let picture = try String(contentsOf: svg, encoding: .utf8)
    #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
    #expect(picture.split(separator: "<polyline").count == rates.count + 1)
    #expect(picture.contains("lru (in use)"))

    let asJSON = try await Program.run(arguments + ["--format", "json"])
    #expect(asJSON.output == (try String(contentsOf: json, encoding: .utf8)))
  }

  @Test("where a level is bounded by bytes the sizes of the trace count, or else what the source would give")
  func sizes() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.weighed, to: "c.yaml")
    let sized = try await Program.run(
      ["replay", file, "--trace", "-", "--what-if", "--format", "json"],
      input: keys.prefix(3_000).map { "\($0 % 30)\t1024\n" }.joined())
    #expect(sized.status == 0, "\(sized.errors)")
    let curve = try object(sized.output)
    #expect(curve["unit"] as? String == "bytes")
    #expect(curve["assumedSize"] == nil)
    let capacities = try #require(curve["capacities"] as? [Int])
    let lru = try #require((curve["hitRates"] as? [String: [Double]])?["lru"])
    // Thirty values of a KiB in turn: twenty-nine are not enough, thirty are.
    for (capacity, ratio) in zip(capacities, lru) {
      #expect(abs(ratio - (capacity < 30 << 10 ? 0 : 0.99)) < 1e-9, "\(capacity)")
    }
    let plain = try await Program.run(
      ["replay", file, "--trace", "-", "--what-if", "--format", "json"],
      input: keys.prefix(3_000).map { "\($0 % 30)\n" }.joined())
    let assumed = try object(plain.output)
    #expect(assumed["assumedSize"] as? Int == 1_024)
    #expect((assumed["hitRates"] as? [String: [Double]])?["lru"] == lru)
  }

  @Test("what cannot be done is told with status 2 and a remedy")
  func problems() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.counted, to: "c.yaml")
    let without = try folder.write("levels:\n  - origin: { latency: 0s }\n", to: "d.yaml")
    let path = folder.url.path()
    let trace = try folder.write("a\n", to: "trace")
    let linked = folder.url.appending(path: "linked").path()
    try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: trace)
    let cases: [([String], String, String)] = [
      ([file, "--trace", "-", "--svg", "a.svg"], "a\n", "--what-if"),
      ([file, "--trace", "-", "--what-if", "--svg", "a.x", "--json", "a.x"], "a\n", "give each its own"),
      (
        [file, "--trace", "-", "--what-if", "--svg", "\(path)/a.x", "--json", "\(path)/./a.x"], "a\n",
        "give each its own"
      ),
      ([file, "--trace", "-", "--what-if", "--json", "\(path)/./c.yaml"], "", "--json would overwrite"),
      ([file, "--trace", linked, "--what-if", "--svg", trace], "", "--svg would overwrite"),
      ([file, "--trace", "-", "--what-if", "--json", "-"], "a\n", "--format json for standard output"),
      ([file, "--trace", "-", "--what-if"], "# nothing\n", "standard input: error: there is no request in it"),
      (
        [file, "--trace", "-", "--what-if"], "key,op,size\na,SET,1\n",
        "standard input: error: none of its requests is a read; give a trace with reads"
      ),
      ([file, "--trace", "-", "--what-if", "--expect", "memory.hit >= 99%"], "a\n", "leave one of them out"),
      ([file, "--trace", "-", "--what-if", "--strict"], "a\n", "makes none; leave them out"),
      ([file, "--trace", "-", "--what-if", "--clients", "2"], "a\n", "makes none; leave them out"),
      ([file, "--trace", "-", "--what-if", "--speed", "9"], "a\n", "makes none; leave them out"),
      ([file, "--trace", "-", "--what-if", "--level", "memry"], "a\n", "memory"),
      ([without, "--trace", "-", "--what-if"], "a\n", "no level of this cache has a capacity"),
      ([file, "--trace", "-", "--what-if", "--svg", "/no/such/folder/a.svg"], "a\nb\n", "cannot be written"),
      ([file, "--trace", "-", "--what-if"], "a\nb\tbig\n", "standard input:2: error"),
    ]
    for (arguments, input, part) in cases {
      let run = try await Program.run(["replay"] + arguments, input: input)
      #expect(run.status == 2, "\(arguments)")
      #expect(run.errors.contains(part), "\(run.errors)")
      // Nothing that takes long begins before a file is known to be writable.
      #expect(run.output.isEmpty, "\(arguments)")
    }
    let standing = try folder.write("before", to: "standing.svg")
    let (link, missing) = ("\(path)/link.svg", "\(path)/missing.svg")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: missing)
    #expect(
      try await Program.run(["replay", file, "--trace", "/no/trace", "--what-if", "--svg", link]).status == 2)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == missing)
    #expect(!FileManager.default.fileExists(atPath: missing))
    let outputs = ["--svg", standing, "--json", "\(path)/new.json"]
    #expect(try await Program.run(["replay", file, "--trace", "/no/trace", "--what-if"] + outputs).status == 2)
    #expect(try String(contentsOfFile: standing, encoding: .utf8) == "before")
    #expect(!FileManager.default.fileExists(atPath: "\(path)/new.json"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.counted)
    #expect(try String(contentsOfFile: trace, encoding: .utf8) == "a\n")
  }
}
