import CacheEngine
@testable import CacheEngineNetwork
#if os(Linux) || os(macOS)
import CCurl
import Foundation
import Testing

/// What no server can show, since libcurl sees it first.
@Suite struct CurlStreamTests {
  @Test("A content that streams and ends before its announced length is broken off, also if libcurl calls it whole")
  func streamedLength() async throws {
    let request = StreamRequest(
      method: "GET", target: "/", headers: [], contentLength: 0, authorities: nil, connectTimeout: .seconds(1),
      patience: .seconds(1), idleTime: .seconds(1))
    let stream = CurlStream(
      request, address: try HTTPAddress(text: "http://host/"), loop: CurlLoop(transfers: 1, transfersPerOrigin: 1))
    for line in ["HTTP/1.1 200 OK\r\n", "Content-Length: 9\r\n", "\r\n"] {
      let isTaken = unsafe Array(line.utf8).withUnsafeBytes { unsafe stream.receive(headerLine: $0) }
      #expect(isTaken)
    }
    let taken = unsafe Array("half".utf8).withUnsafeBytes { unsafe stream.receive(content: $0) }
    #expect(taken == 4)
    stream.finish(CURLE_OK)
    #expect(try await stream.nextHead().length == 9)
    #expect(try await stream.nextPart() == Data("half".utf8))
    let error = await #expect(throws: CacheError.self) { try await stream.nextPart() }
    #expect(error?.underlying as? OriginFault == .terminated)
  }
}
#endif
