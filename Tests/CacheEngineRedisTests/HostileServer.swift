#if Redis
import CacheEngine
import CacheEngineRedis
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestRedis

/// A server that greets as Redis does, and then does what a test says.
final class HostileServer: Sendable {
  enum Reaction: Sendable {
    case say(String)
    case bytes([UInt8])
    case sayAndClose(String)
    case silence
    case close
  }

  static let greeting = "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n"

  let folder: String
  private let channel: any Channel
  private let portChannel: (any Channel)?
  private let connections: Connections

  /// What has come, and how to say more than was asked for.
  private final class Connections: Sendable {
    struct State {
      var channels: [any Channel] = []
      var commands: [[String]] = []
      var resets = 0
    }
    let state = Mutex(State())
  }

  /// A server that reacts to each command, of which it is told the number of the connection as well, from 1.
  ///
  /// It listens at a port as well if it is given one. If it refuses, it says so before it is asked anything, and hangs up.
  init(
    port: Int? = nil, refusing words: String? = nil, _ react: @escaping @Sendable (Int, [String]) -> Reaction
  ) async throws {
    folder = try makeShortFolder("redis")
    let connections = Connections()
    self.connections = connections
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let number = connections.state.withLock { state in
          state.channels.append(channel)
          return state.channels.count
        }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Handler(refusing: words) { command in
              connections.state.withLock { $0.commands.append(command) }
              let reaction = react(number, command)
              if case .say("") = reaction, command.first == "HELLO" { return .say(Self.greeting) }
              return reaction
            } onReset: {
              connections.state.withLock { $0.resets += 1 }
            })
        }
      }
    channel = try await bootstrap.bind(unixDomainSocketPath: folder + "/s").get()
    portChannel = if let port { try await bootstrap.bind(host: "127.0.0.1", port: port).get() } else { nil }
  }

  /// The port that it listens at, if it was given one or 0 for any.
  var port: Int? { portChannel?.localAddress?.port }

  /// Lets go of the port.
  func close() async throws { try await portChannel?.close() }

  deinit {
    for connection in connections.state.withLock({ $0.channels }) { connection.close(promise: nil) }
    channel.close(promise: nil)
    do { try FileManager.default.removeItem(atPath: folder) } catch {}
  }

  var commands: [[String]] { connections.state.withLock { $0.commands } }
  /// How many connections were given up with all that was under way on them.
  var resetCount: Int { connections.state.withLock { $0.resets } }
  var connectionCount: Int { connections.state.withLock { $0.channels.count } }

  /// Says something that nobody has asked for, on the connection of that number.
  func say(_ text: String, on number: Int) {
    let channel = connections.state.withLock { $0.channels[number - 1] }
    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
  }

  func store(_ change: (inout RedisSettings) -> Void = { _ in }) -> RedisStore {
    var settings = RedisSettings(.socket(folder + "/s"))
    settings.commandLimit = .seconds(30)
    settings.pingInterval = .seconds(600)
    settings.pauses = .milliseconds(1)...Duration.milliseconds(2)
    change(&settings)
    return RedisStore(settings)
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var parser = RESPParser()
    private let refusal: String?
    private let react: @Sendable ([String]) -> Reaction
    private let onReset: @Sendable () -> Void

    init(
      refusing refusal: String?, _ react: @escaping @Sendable ([String]) -> Reaction,
      onReset: @escaping @Sendable () -> Void
    ) {
      self.refusal = refusal
      self.react = react
      self.onReset = onReset
    }

    func channelActive(context: ChannelHandlerContext) {
      guard let refusal else { return }
      context.channel.writeAndFlush(ByteBuffer(string: refusal), promise: nil)
      context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { onReset() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      parser.append(unwrapInboundIn(data).readableBytesView)
      while true {
        let request: RESPValue?
        do { request = try parser.next() } catch { return context.close(promise: nil) }
        guard case .array(let parts)? = request else { return }
        let command = parts.map { part in
          if case .bytes(let bytes) = part { String(decoding: bytes, as: UTF8.self) } else { "?" }
        }
        switch react(command) {
        case .say(let text): context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        case .bytes(let bytes): context.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        case .sayAndClose(let text):
          context.channel.write(ByteBuffer(string: text), promise: nil)
          context.channel.flush()
          context.close(promise: nil)
        case .silence: break
        case .close: context.close(promise: nil)
        }
      }
    }
  }
}
#endif
