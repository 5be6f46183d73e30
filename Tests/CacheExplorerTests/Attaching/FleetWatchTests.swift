import CacheEngine
import Testing

@testable import ExplorerCache
@testable import ExplorerState

/// What several apps tell, on its way into what is known of them.
struct FleetWatchTests {
  private let watch = FleetWatch()
  private let now = SystemClock().now

  init() {
    for name in ["one", "two"] {
      _ = watch.join(
        FleetSheet.App(name: name, pid: 1, socket: "/\(name)"), shared: ["redis"], sources: ["source"],
        at: now.advanced(by: .seconds(-1)))
    }
  }

  private func note(_ app: Int, _ kind: CacheEvent.Kind, ahead: Duration = .zero) {
    watch.note(
      CacheEvent(time: now.advanced(by: ahead), request: RequestID(1), level: "memory", key: "k", kind: kind),
      app: app)
  }

  private func fill(_ app: Int, ahead: Duration = .zero) {
    note(app, .stored(.backFill, cost: 1, deadline: nil, .zero), ahead: ahead)
  }

  @Test("an app that was killed while it loaded for all leads nothing and holds nothing, whatever it told last")
  func killed() {
    note(0, .operated(.shared(.leads(lease: "ab"))))
    fill(0)
    fill(1)
    watch.left(0, because: "the app has ended")
    var sheet = watch.sheet(waiting: .zero)
    #expect(sheet.apps.map(\.loads) == [1, 0])
    #expect(sheet.leases.isEmpty)
    #expect(sheet.keys.map { $0.copies.map { $0 == nil } } == [[true, false]])
    // An answer that was on its way.
    watch.holds(0, ["k": FleetSheet.Copy(created: now, deadline: nil)], count: 1)
    sheet = watch.sheet(waiting: .zero)
    #expect(sheet.keys.map { $0.copies.map { $0 == nil } } == [[true, false]])
  }

  @Test("an event that lies ahead by what an app says happened when it was told, and takes no room for ever")
  func ahead() {
    fill(0, ahead: .seconds(3_600))
    #expect(watch.sheet(waiting: .zero).keys.map(\.name) == ["k"])
  }
}
