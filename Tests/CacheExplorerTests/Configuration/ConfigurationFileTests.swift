import Foundation
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

struct ConfigurationFileTests {
  /// Runs a body with the path of a folder that is there for it alone.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "configuration-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  private func problem(_ path: String) -> String? {
    do {
      _ = try ConfigurationFile.load(path)
      return nil
    } catch { return error.description }
  }

  @Test("A file is read, and its folder is where its relative paths begin")
  func good() throws {
    try withFolder { folder in
      try Data("levels: [{ disk: { directory: d } }]".utf8).write(to: URL(filePath: folder + "/some.yaml"))
      let configuration = try ConfigurationFile.load(folder + "/some.yaml")
      #expect(configuration.name == "some")
      #expect(configuration.levels.map(\.kind) == [.disk(DiskSpecification(directory: folder + "/d"))])
    }
  }

  @Test("A slash is one also where an accent or the like follows it", arguments: ["c.yaml", "\u{301}c.yaml"])
  func accents(name: String) throws {
    try withFolder { folder in
      let levels = ["\(folder)/e", "/\u{301}d", "d"].map { "{ disk: { directory: \"\($0)\" } }" }
      try Data("levels: [\(levels.joined(separator: ", "))]".utf8).write(to: URL(filePath: "\(folder)/\(name)"))
      let directories = try ConfigurationFile.load("\(folder)/\(name)").levels.map { level in
        if case .disk(let disk) = level.kind { disk.directory } else { "" }
      }
      #expect(directories == ["\(folder)/e", "/\u{301}d", "\(folder)/d"])
    }
  }

  @Test("Standard input, which cannot be read again, is refused as such")
  func standardInput() {
    #expect(
      problem("-") == "-: error: a configuration is not read from standard input; write it into a file, and name that")
  }

  @Test("A file that asks for more memory than the machine can spare is warned of it")
  func greedy() throws {
    try withFolder { folder in
      try Data("levels: [{ memory: { capacity: 1000000 TiB } }]".utf8).write(to: URL(filePath: folder + "/m.yaml"))
      let warnings = try ConfigurationFile.load(folder + "/m.yaml").warnings
      #expect(warnings.map(\.message) == ["memory may take more than half of this machine's memory"])
    }
  }

  @Test("What an error quotes of a file is not all of it")
  func longValue() throws {
    try withFolder { folder in
      let file = folder + "/c.yaml"
      let value = String(repeating: "x", count: 100_000)
      try "levels:\n  - memory: { capacity: \(value) }".write(toFile: file, atomically: true, encoding: .utf8)
      let told = problem(file) ?? ""
      #expect(told.hasPrefix("\(file):2:25: error: “capacity” of memory: “xxx"), "\(told)")
      #expect(told.hasSuffix("xxx” is not a quantity; write a size such as 512 KiB, 2 MiB or 4096"), "\(told)")
      #expect(told.utf8.count < 1_500)
    }
  }

  @Test("A file that is not there, a folder and a file that is no text are refused")
  func refused() throws {
    try withFolder { folder in
      #expect(
        problem(folder + "/none.yaml")
          == "\(folder)/none.yaml: error: there is no such file; check the path, or run `cache-explorer demo` for an "
          + "example")
      #expect(problem(folder) == "\(folder): error: this is a directory; name the configuration file in it")
      for bytes: [UInt8] in [[0xff, 0xfe, 0x00], [0x61, 0x00, 0x62], [0xc0, 0xaf]] {
        try Data(bytes).write(to: URL(filePath: folder + "/b"))
        #expect(
          problem(folder + "/b")
            == "\(folder)/b: error: this is not a text file; a configuration is YAML or JSON in UTF-8")
      }
      try Data().write(to: URL(filePath: folder + "/b"))
      #expect(problem(folder + "/b")?.hasPrefix("\(folder)/b: error: the file is empty; ") == true)
    }
  }

  @Test("A device is refused for what it is, through a link as well, and not for its permissions")
  func device() throws {
    try withFolder { folder in
      let link = folder + "/link.yaml"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/tty")
      for path in ["/dev/tty", link] {
        #expect(
          problem(path)
            == "\(path): error: this is no ordinary file; write the configuration into one, and name that")
      }
    }
  }

  @Test("What cannot be reached is refused with the reason of the system, not as missing")
  func unreachable() throws {
    try withFolder { folder in
      let (loop, file) = (folder + "/loop.yaml", folder + "/some.yaml")
      try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
      try Data("levels: [empty]".utf8).write(to: URL(filePath: file))
      let long = folder + "/" + String(repeating: "a", count: 300)
      for (path, reason) in [
        (loop, "Too many levels of symbolic links"), (file + "/in.yaml", "Not a directory"),
        (long, "File name too long"),
      ] {
        #expect(
          problem(path)
            == "\(path): error: the file cannot be read (\(reason)); check the path and the permissions along it")
      }
      let dangling = folder + "/dangling.yaml"
      try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: folder + "/none")
      #expect(problem(dangling)?.contains("error: there is no such file; ") == true)
      #if os(Linux)
      #expect(problem("/proc/self/mem")?.contains("the file cannot be read (Input/output error); ") == true)
      #endif
    }
  }

  @Test("A file of more than 1 MiB is refused without being read")
  func large() throws {
    try withFolder { folder in
      let path = folder + "/large.yaml"
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.truncate(atOffset: 1 << 40)
      try file.close()
      #expect(
        problem(path) == "\(path): error: the file has 1099511627776 bytes; a configuration has at most 1048576")
    }
  }

  @Test("Every demo can be read and is warned of nothing", arguments: Demo.all.map(\.name))
  func demos(name: String) throws {
    let demo = try #require(Demo.named(name))
    let configuration = try demo.configuration(folder: "/tmp/demo")
    #expect(configuration.warnings == [])
    // The demo of a proxy has clients of its own.
    #expect(configuration.workload != nil || name == "http")
    #expect(!demo.caption.isEmpty)
  }

  private static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")

  @Test("Every example can be read, is warned of nothing, and begins with what it teaches")
  func examples() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.examples.path)
      .filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") || $0.hasSuffix(".json") }
    #expect(names.count >= 2)
    for name in names {
      let path = Self.examples.appending(path: name).path
      let configuration = try ConfigurationFile.load(path)
      #expect(configuration.warnings == [], "\(name)")
      #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("# "), "\(name)")
    }
  }
}
