#if Redis
import CacheEngine
// Its own connection says any command.
@testable import CacheEngineRedis

struct RawConnection {
  private let connection: RedisConnection

  init(_ socket: String) async throws {
    var settings = RedisSettings(.socket(socket))
    settings.commandLimit = .seconds(30)
    connection = try await RedisConnection.connect(settings) { _ in
    } onClose: { _, _ in
    }
  }

  func ask(_ words: [String]) async throws -> RESPValue {
    try await connection.ask([words.map { Array($0.utf8) }])[0]
  }
}
#endif
