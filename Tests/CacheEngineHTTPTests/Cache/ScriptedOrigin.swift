#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An origin that answers as a test says and remembers what it was asked.
final class ScriptedOrigin: HTTPOrigin {
  typealias Script = @Sendable (HTTPRequest, Int) async throws -> HTTPAnswer

  private let asked = Mutex<[HTTPRequest]>([])
  private let script: Script

  /// The script is given the request, and how many came before.
  init(_ script: @escaping Script) { self.script = script }

  var requests: [HTTPRequest] { asked.withLock { $0 } }

  func send(
    _ request: HTTPRequest, body: HTTPBody, interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    let count = asked.withLock { asked in
      asked.append(request)
      return asked.count - 1
    }
    return try await script(request, count)
  }
}

extension HTTPAnswer {
  init(_ status: Int, _ fields: [String] = [], _ body: String = "") {
    self.init(
      head: HTTPResponse(status: .init(code: status), headerFields: HTTPFields(lines: fields)),
      body: HTTPBody(.init(body.utf8)))
  }
}

extension HTTPCacheAnswer {
  func text() async throws -> String {
    String(decoding: try await body.collect(upTo: .max)?.content ?? .init(), as: UTF8.self)
  }
}
#endif
