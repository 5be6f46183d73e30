import Foundation

/// A program of Examples, run to its end.
struct ExampleRun {
  var status: Int32
  var output: String
  var errors: String

  /// Starts the program that was built together with the tests, and waits for its end without holding a thread of the pool.
  init(_ name: String, _ arguments: [String]) async throws {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    async let text = Self.text(of: output.fileHandleForReading)
    async let complaints = Self.text(of: errors.fileHandleForReading)
    status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    (self.output, self.errors) = (await text, await complaints)
  }

  private static func text(of handle: FileHandle) async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: String(decoding: handle.readDataToEndOfFile(), as: UTF8.self))
      }
    }
  }
}
