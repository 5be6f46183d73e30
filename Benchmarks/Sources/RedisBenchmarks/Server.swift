import CFloor
import Foundation

/// A redis-server of the benchmark's own, at a socket in a temporary folder.
final class Server {
  private let process = Process()
  let folder: String
  var socket: String { folder + "/socket" }

  /// Starts the server that is installed: Debian's redis-tools has it as redis-check-rdb, which is one when it is called so.
  init() throws {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    let programs = ["redis-server", "valkey-server", "redis-check-rdb"].flatMap { name in
      folders.map { "\($0)/\(name)" }
    }
    guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
      throw Failure("there is no redis-server: on Debian, apt-get install redis-tools")
    }
    folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(getpid())").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: folder + "/redis-server", withDestinationPath: program)
    process.executableURL = URL(filePath: folder + "/redis-server")
    process.arguments = ["--port", "0", "--unixsocket", folder + "/socket", "--save", "", "--dir", folder]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  /// A connection of a client in C, as soon as the server listens.
  func connect() throws -> Int32 {
    for _ in 0..<500 {
      let connection = cfloor_connect(socket)
      if connection >= 0 { return connection }
      usleep(10_000)
    }
    throw Failure("the redis-server does not listen")
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// What another program prints, for which this server's program stands in the path as redis-server.
  func output(of program: String, _ arguments: [String]) throws -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ["PATH": folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin")]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? text : nil
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
