import CacheEngine
import CacheEngineInspector
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Somebody who is attached to a cache, takes all that is told, and does nothing with it.
///
/// What it costs to look at what is told is not the app's.
final class Onlooker {
  private let server: InspectorServer
  private let folder: String
  private let number: Int32

  init(_ cache: some CacheLevel) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ce-\(UUID().uuidString.prefix(8))").path()
    server = try CacheInspector.serve(cache, at: folder + "/s")
    #if canImport(Glibc)
    number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
    number = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(server.path.utf8)) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let hello = Array("{\"hello\":{\"client\":\"benchmark\",\"versions\":[1,1]}}\n".utf8)
    guard code == 0, write(number, hello, hello.count) == hello.count else { throw Failure() }
    Thread.detachNewThread { [number] in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while read(number, &buffer, buffer.count) > 0 {}
    }
    while server.attachedCount == 0 { usleep(1_000) }
  }

  deinit {
    server.close()
    shutdown(number, Int32(SHUT_RDWR))
    try? FileManager.default.removeItem(atPath: folder)
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String { "nobody answers at the inspector's socket" }
  }
}
