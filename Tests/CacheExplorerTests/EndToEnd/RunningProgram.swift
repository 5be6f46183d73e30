import Foundation
import Synchronization

/// A program that runs while a test does something else.
final class RunningProgram: Sendable {
  private let process: Process
  private let written: AsyncStream<String>
  private let complained: AsyncStream<String>
  private let ended: AsyncStream<Int32>
  private let input = Pipe()

  init(_ arguments: [String], executable: String = Program.path) throws {
    process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    written = Self.lines(output)
    complained = Self.lines(errors)
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    ended = stream
    process.terminationHandler = {
      continuation.yield($0.terminationStatus)
      continuation.finish()
    }
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var processIdentifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  func type(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

  func endInput() throws { try input.fileHandleForWriting.close() }

  /// The first line of standard output that meets a condition; `nil` if it ends without one.
  func line(where condition: (String) -> Bool) async -> String? { await Self.first(of: written, where: condition) }

  /// As ``line(where:)``, of standard error.
  func complaint(where condition: (String) -> Bool) async -> String? {
    await Self.first(of: complained, where: condition)
  }

  private static func first(of lines: AsyncStream<String>, where condition: (String) -> Bool) async -> String? {
    for await line in lines where condition(line) { return line }
    return nil
  }

  /// Waits for its end.
  ///
  /// - Returns: The exit status, and the lines that nobody has read yet.
  func end() async -> (status: Int32, lines: [String], complaints: [String]) {
    var (lines, complaints): ([String], [String]) = ([], [])
    for await line in written { lines.append(line) }
    for await line in complained { complaints.append(line) }
    for await status in ended { return (status, lines, complaints) }
    return (-1, lines, complaints)
  }

  private static func lines(_ pipe: Pipe) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread {
      var pending = Data()
      while true {
        let bytes = handle.availableData
        guard !bytes.isEmpty else { break }
        pending.append(bytes)
        while let end = pending.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: pending[..<end], as: UTF8.self))
          pending = Data(pending[pending.index(after: end)...])
        }
      }
      if !pending.isEmpty { continuation.yield(String(decoding: pending, as: UTF8.self)) }
      continuation.finish()
    }
    return lines
  }
}

/// How long processors have worked for a process, in hundredths of a second.
func processorTicks(of process: Int32) throws -> Int {
  let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
  // User and system time, as proc(5) orders them behind the name.
  let words = line.drop { $0 != ")" }.split(separator: " ").dropFirst(12).prefix(2)
  return words.reduce(0) { $0 + (Int($1) ?? 0) }
}

/// The program `curl`.
enum Curl {
  static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Runs it to its end; quiet but for what it fetches.
  static func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
    let program = try RunningProgram(
      ["--silent", "--max-time", "120"] + arguments, executable: path ?? "/usr/bin/curl")
    let (status, lines, _) = await program.end()
    return (status, lines.map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }.joined(separator: "\n"))
  }
}
