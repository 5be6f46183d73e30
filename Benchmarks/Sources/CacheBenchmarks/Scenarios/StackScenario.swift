import CacheEngine
import CacheEngineNetwork
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A whole stack: memory over a disk over a server on this machine, asked for what each of them has.
enum StackScenario {
  static func run(rounds: Int) async throws -> Result {
    let server = try TinyServer(body: Data(repeating: 7, count: 1_024))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CacheBenchmarks-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let memory = MemoryCacheLevel<String, Data>()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path)
    let network = try NetworkFetcher<String>(template: "http://127.0.0.1:\(server.port)/{key}")
    let stack = memory.compose(disk).compose(network)
    let operations = 200
    let clock = ContinuousClock()
    var samples: [String: [Double]] = [:]
    for round in 0...rounds {
      let keys = (0..<operations).map { "\(round)-\($0)" }
      func measure(_ name: String, _ get: (String) async throws -> Data?) async throws {
        let began = clock.now
        for key in keys { blackHole(try await get(key)) }
        let each = began.duration(to: clock.now) / .microseconds(1) / Double(operations)
        if round > 0 { samples[name, default: []].append(each) }
      }
      try await measure("network alone") { try await network.get($0) }
      try await measure("stack, found by the network") { try await stack.get($0) }
      try await measure("stack, found in memory") { try await stack.get($0) }
      try await memory.clear()
      try await measure("stack, found on the disk") { try await stack.get($0) }
    }
    let names = [
      "network alone", "stack, found by the network", "stack, found on the disk", "stack, found in memory",
    ]
    let rows = names.map { Comparison.Row(name: $0, samples: samples[$0] ?? []) }
    return Result(title: "memory over disk over HTTP on this machine, 1 KiB", unit: "us/op", rows: rows)
  }
}

/// Answers every request on the loopback interface with the same bytes; a thread for each connection.
private final class TinyServer: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init(body: Data) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | listen(descriptor, 64) | getsockname(descriptor, $0, &length)
      }
    }
    guard descriptor >= 0, status == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nCache-Control: max-age=3600\r\n\r\n"
    let answer = [UInt8](Data(head.utf8) + body)
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread { Self.serve(connection, answer) }
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  private static func serve(_ connection: Int32, _ answer: [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 8_192)
    var tail: [UInt8] = []
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      tail = Array((tail + buffer[..<count]).suffix(4))
      guard tail == Array("\r\n\r\n".utf8) else { continue }
      guard send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { break }
    }
    close(connection)
  }
}
