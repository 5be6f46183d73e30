import Foundation

/// The built `cache-explorer`, run as a process of its own.
enum Program {
  struct Run: Sendable {
    let status: Int32
    let output: String
    let errors: String

    /// The answers of `--format json`, one a line.
    var answers: [[String: String]] {
      output.split(separator: "\n").map { line in
        let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
        return object.mapValues { "\($0)" }
      }
    }
  }

  /// The program that was built together with the tests.
  static var path: String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "cache-explorer").path()
  }

  /// The folder of the package.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Runs the program to its end.
  static func run(_ arguments: [String], input: String = "", directory: URL? = nil) async throws -> Run {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    let (input, output, errors) = (Pipe.holding(input), Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    async let text = output.text()
    async let complaints = errors.text()
    let status: Int32 = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return Run(status: status, output: await text, errors: await complaints)
  }
}

extension Pipe {
  /// A pipe that gives a text, which must fit into it, and ends.
  fileprivate static func holding(_ text: String) -> Pipe {
    precondition(text.utf8.count < 60_000, "a longer input would block")
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data(text.utf8))
    try? pipe.fileHandleForWriting.close()
    return pipe
  }

  /// Everything that is written, read on a thread of its own.
  fileprivate func text() async -> String {
    let handle = fileHandleForReading
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: String(decoding: handle.readDataToEndOfFile(), as: UTF8.self))
      }
    }
  }
}

/// A folder that is there for as long as a test runs; its path is short, as sentences on one line of a screen tell it.
struct TemporaryFolder: ~Copyable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "cx-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Writes a file into the folder and gives its path.
  func write(_ text: String, to name: String) throws -> String {
    let file = url.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path()
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
