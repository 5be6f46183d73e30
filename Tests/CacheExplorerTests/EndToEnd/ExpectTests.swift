import Foundation
import Testing

/// Expectations of `run` and `replay` as processes, and the example of a job that uses them.
@Suite(.timeLimit(.minutes(10))) struct ExpectTests {
  private static let yaml = "levels:\n  - memory: { count: 10 }\n  - origin: { latency: 0s, size: 10 B }\n"

  @Test("a script whose expectations hold ends with status 0, one in which one does not with 1 and the difference")
  func script() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.yaml, to: "c.yaml")
    let good = try await Program.run(["run", file], input: "get a\nget a\nexpect memory.hit >= 50%\n")
    #expect(good.status == 0, "\(good.errors)")
    #expect(
      good.output.contains("expect: ok memory.hit >= 50%: 50% (hits: 1 of 2 answered look-ups of memory (1 absent)"))
    let bad = try await Program.run(
      ["run", file], input: "get a\nexpect \"memory.hit >= 50%\"\nexpect origin.requests <= 0\nget b\n")
    #expect(bad.status == 1)
    #expect(bad.errors == "error: 2 of 2 expectations failed\n")
    #expect(
      bad.output.contains("  expected  at least 50%\n  is        0%, 50 points too low\n  from      hits: 0 of 1 "))
    #expect(bad.output.contains("is        1, 1 too many"))
    #expect(bad.output.contains("get: hit from origin"), "what follows is carried out")
  }

  @Test("--expect is judged after the script, may be given again, and tells JSON with everything that it is made of")
  func options() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.yaml, to: "c.yaml")
    let arguments = [
      "run", file, "--format", "json", "--expect", "memory.hit >= 80%", "--expect", "origin.requests <= 120",
    ]
    let run = try await Program.run(arguments, input: "get a\nget a\n")
    #expect(run.status == 1)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 4)
    let failed = try #require(try JSONSerialization.jsonObject(with: Data(lines[2].utf8)) as? [String: Any])
    #expect(failed["command"] as? String == "expect")
    #expect(failed["outcome"] as? String == "error")
    let report = try #require(failed["expectation"] as? [String: Any])
    #expect(report["expected"] as? Double == 0.8)
    #expect(report["actual"] as? Double == 0.5)
    #expect(report["holds"] as? Bool == false)
    #expect((report["counts"] as? [String: Int])?["answered"] == 2)
    #expect(lines[3].contains("\"outcome\":\"ok\""))
    let idle = try await Program.run(arguments, input: "")
    #expect(idle.status == 1)
    #expect(idle.output.contains("\"actual\":null"))
    #expect(idle.output.contains("no traffic"))
  }

  @Test("quit ends a script, and not what is expected of it")
  func quit() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.yaml, to: "c.yaml")
    let run = try await Program.run(["run", file, "--expect", "memory.hit >= 80%"], input: "get a\nquit\nget b\n")
    #expect(run.status == 1)
    #expect(run.errors == "error: 1 of 1 expectation failed\n")
    #expect(run.output.ranges(of: "get: ").count == 1)
  }

  @Test("replay judges after the trace")
  func replay() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.yaml, to: "c.yaml")
    let base = ["replay", file, "--trace", "-", "--expect"]
    let good = try await Program.run(base + ["memory.hit >= 60%"], input: "a\na\na\n")
    #expect(good.status == 0, "\(good.errors)")
    let bad = try await Program.run(base + ["memory.hit >= 70%"], input: "a\na\na\n")
    #expect(bad.status == 1)
    #expect(bad.output.contains("is        66.7%, 3.3 points too low"))
  }

  @Test("what cannot be understood is refused with status 2 before anything is done, with a caret under it")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.yaml, to: "c.yaml")
    let option = try await Program.run(["run", file, "--expect", "memory.hitt > 1%"], input: "get a\n")
    #expect(option.status == 2)
    #expect(option.output == "")
    #expect(option.errors.contains("did you mean “hit”?\n  memory.hitt > 1%\n         ^\n"))
    let script = try await Program.run(["run", file], input: "get a\nexpect origni.requests > 1\n")
    #expect(script.status == 2)
    #expect(script.output == "")
    #expect(script.errors.contains("standard input:2:8: error: there is no level “origni”; did you mean “origin”?"))
    #expect(script.errors.hasSuffix("\n  expect origni.requests > 1\n         ^\n"))
  }

  @Test("every command of the example's job ends well")
  func example() async throws {
    let job = try String(contentsOf: Program.root.appending(path: "Examples/ci/cache-check.yml"), encoding: .utf8)
    let commands = job.split(separator: "\n").compactMap { line -> [String]? in
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("run: cache-explorer ") else { return nil }
      // Quoted words hold spaces here, and nothing else that a shell would see.
      let parts = line.dropFirst("run: cache-explorer ".count).split(separator: "\"", omittingEmptySubsequences: false)
      return parts.enumerated().flatMap { index, part in
        index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
      }
    }
    #expect(commands.map { $0[0] } == ["check", "run", "replay"])
    for command in commands {
      let run = try await Program.run(command, directory: Program.root)
      #expect(run.status == 0, "\(command): \(run.output)\(run.errors)")
    }
  }

  @Test("the example's script fails a configuration that is too small")
  func sharpened() async throws {
    let folder = try TemporaryFolder()
    let yaml = try String(contentsOf: Program.root.appending(path: "Examples/ci/photos.yaml"), encoding: .utf8)
    let file = try folder.write(yaml.replacing("2 MiB", with: "64 KiB"), to: "photos.yaml")
    let script = Program.root.appending(path: "Examples/ci/photos.script").path()
    let run = try await Program.run(["run", file, "--script", script])
    #expect(run.status == 1)
    #expect(run.output.contains("expect: failed memory.hit >= 70%"), "\(run.output)")
  }
}
