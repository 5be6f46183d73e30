#if HTTP
import CacheEngine
import CacheEngineNetwork
import CacheEngineHTTP
import HTTPTypes
import LoopbackServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The engine's transport as an origin", .timeLimit(.minutes(2)))
struct TransportOriginTests {
  private func answer(_ path: String, _ method: HTTPTypes.HTTPRequest.Method = .get) async throws -> (Int, String) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let request = HTTPTypes.HTTPRequest(
      method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
    let answer = try await TransportOrigin().send(request, body: HTTPBody()) { _ in }
    let content = try await answer.body.collect(upTo: 1000)?.content
    return (answer.head.status.code, String(decoding: content ?? .init(), as: UTF8.self))
  }

  @Test("Errors come with their content, redirects and encoded contents as they are")
  func verbatim() async throws {
    let missing = try await answer("/-/status/404")
    #expect(missing.0 == 404 && !missing.1.isEmpty)
    let redirect = try await answer("/-/redirect/loop")
    #expect((300..<400).contains(redirect.0))
    #expect(try await answer("/-/gzip").1 == "0123456789")
    #expect(try await answer("/-/partial").0 == 206)
  }

  @Test(
    "What cannot be trusted is an error all the same",
    arguments: ["short", "both", "unframed", "lengths/10,11", "garbage"])
  func untrusted(_ path: String) async throws {
    await #expect(throws: CacheError.self) { try await answer("/-/\(path)") }
  }

  @Test("Other methods than GET are refused before anything is sent")
  func methods() async throws {
    let error = await #expect(throws: CacheError.self) { try await answer("/", .post) }
    #expect(error?.code == .unsupported)
  }
}
#endif
