#if Explorer
package import CacheEngine
import CacheEngineHTTP
package import CacheEngineProxy
package import ExplorerConfiguration
package import ExplorerState
import HTTPTypes

/// A cache behind a proxy with a server and visitors of its own, all in this process and without a socket.
package struct ServedDemo: Sendable {
  package let live: LiveCache
  private let levels: ServedLevels
  private let cache: HTTPCache<ServedStore>
  private let observe: @Sendable (ServedRequest, () -> ServedExchange) -> Void

  /// Opens the levels; ``run(for:)`` lets visitors come.
  ///
  /// `observe`: Told of every request that was answered. It must not block.
  ///
  /// - Throws: ``ConfigurationFailure``.
  package static func open(
    _ configuration: CacheConfiguration, file: String, clock: any CacheClock, observers: [any CacheObserver] = [],
    observe: @escaping @Sendable (ServedRequest, () -> ServedExchange) -> Void
  ) async throws -> ServedDemo {
    let levels = try await ServedLevels.open(
      configuration, file: file, ServedCache.Terms(), clock: clock, observers: observers)
    let cache = HTTPCache(
      storing: levels.store, policy: levels.policy, origin: DemoServer(clock: clock), bodyLimit: levels.bodyLimit,
      clock: clock)
    let live = levels.live(behind: cache, scheme: "http", authority: DemoServer.authority)
    return ServedDemo(live: live, levels: levels, cache: cache, observe: observe)
  }

  /// Lets visitors come until the task is cancelled.
  ///
  /// `time`: For so long, one request after the other, so that each ends before the next begins; `nil` for ever.
  package func run(for time: Duration? = nil) async {
    let began = live.clock.now
    await withTaskGroup(of: Void.self) { group in
      var visitors = DemoVisitors()
      var underWay = 0
      while !Task.isCancelled {
        let visit = visitors.next()
        if let time, visit.at >= time { break }
        do { try await live.clock.sleep(until: began.advanced(by: visit.at), tolerance: nil) } catch { break }
        for request in visit.requests {
          guard time == nil else {
            await ask(request)
            await cache.settle()
            continue
          }
          // The group keeps a task that has ended until it is asked for it.
          while underWay >= WorkloadRunner.mostUnderWay {
            await group.next()
            underWay -= 1
          }
          group.addTask { await ask(request) }
          underWay += 1
        }
      }
      group.cancelAll()
    }
    await cache.close()
  }

  /// Breaks off what is being stored and removed, so that leaving waits for no level.
  package func breakOff() { cache.breakOff() }

  private func ask(_ request: HTTPTypes.HTTPRequest) async {
    let start = live.clock.now
    var served = ServedRequest(
      method: request.method.rawValue, path: request.path ?? "/", status: 502, cache: nil, age: nil, bytes: 0,
      duration: .zero, isWhole: true)
    do {
      let answer = try await cache.response(for: request)
      served.status = answer.head.status.code
      served.cache = answer.status
      served.age = answer.head.headerFields[.age].flatMap { Int($0) }
      for try await case .bytes(let part) in answer.body { served.bytes += part.count }
    } catch {
      guard !(error is CancellationError) else { return }
      served.isWhole = served.cache == nil
      served.note(error)
    }
    served.duration = start.duration(to: live.clock.now)
    served.time = live.clock.timeSinceEpoch
    let number = levels.count(served)
    observe(served) { ServedExchange(number, served, scheme: "http", authority: DemoServer.authority) }
  }
}
#endif
