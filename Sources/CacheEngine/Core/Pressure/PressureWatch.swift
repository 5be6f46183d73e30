#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A thread of its own that waits for the kernel to tell of pressure.
///
/// The thread holds this object, and this object the descriptors: they are closed when the thread has ended, and
/// never under it.
final class PressureWatch: Sendable {
  private let ways: PressureWays
  private let files: PressureFiles
  private let settings: KernelPressureSettings
  private let tell: @Sendable (MemoryPressure) -> Void
  /// The thread waits at one end; shutting down the other wakes it.
  private let (stopped, stopper): (PressureDescriptor, PressureDescriptor)

  /// Starts the thread.
  ///
  /// - Throws: ``SystemFailure`` if there is no descriptor or no thread left.
  static func start(
    _ ways: PressureWays, files: PressureFiles, settings: KernelPressureSettings,
    tell: @escaping @Sendable (MemoryPressure) -> Void
  ) throws -> PressureWatch {
    let watch = try PressureWatch(ways, files: files, settings: settings, tell: tell)
    try OwnThread.start("cache-pressure") { watch.run() }
    return watch
  }

  private init(
    _ ways: PressureWays, files: PressureFiles, settings: KernelPressureSettings,
    tell: @escaping @Sendable (MemoryPressure) -> Void
  ) throws {
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw SystemFailure("socketpair")
    }
    self.ways = ways
    self.files = files
    self.settings = settings
    self.tell = tell
    (stopped, stopper) = (PressureDescriptor(pair[0]), PressureDescriptor(pair[1]))
  }

  /// Has the thread end soon.
  func stop() { shutdown(stopper.number, Int32(SHUT_RDWR)) }

  private func run() {
    var triggers = ways.triggers.map { (trigger: $0, restsUntil: ContinuousClock.now) }
    var seen = ways.events?.seen
    while true {
      let now = ContinuousClock.now
      let awake = triggers.indices.filter { triggers[$0].restsUntil <= now }
      var polled = [pollfd(fd: stopped.number, events: Int16(POLLIN), revents: 0)]
      polled.append(pollfd(fd: ways.events?.descriptor.number ?? -1, events: Int16(POLLIN), revents: 0))
      polled += awake.map { pollfd(fd: triggers[$0].trigger.descriptor.number, events: Int16(POLLPRI), revents: 0) }
      let rest = triggers.map(\.restsUntil).filter { $0 > now }.min().map { now.duration(to: $0) }
      let count = unsafe poll(&polled, nfds_t(polled.count), rest.map { Int32($0 / .milliseconds(1)) + 1 } ?? -1)
      if count < 0 && errno != EINTR { return }
      if polled[0].revents != 0 { return }
      guard count > 0 else { continue }
      if polled[1].revents != 0, let events = ways.events { look(at: events, seen: &seen) }
      var dead: [Int] = []
      for (index, answer) in zip(awake, polled.dropFirst(2)) where answer.revents != 0 {
        // The control group is gone, or the kernel stopped counting.
        guard answer.revents & Int16(POLLERR | POLLNVAL) == 0 else {
          dead.append(index)
          continue
        }
        // The kernel tells once in a window. Nothing else may keep the thread busy either.
        triggers[index].restsUntil = now.advanced(by: triggers[index].trigger.window)
        tell(triggers[index].trigger.pressure)
      }
      for index in dead.reversed() { triggers.remove(at: index) }
    }
  }

  private func look(at events: PressureWays.Events, seen: inout GroupEvents?) {
    var notes = [UInt8](repeating: 0, count: 4096)
    while unsafe read(events.descriptor.number, &notes, notes.count) > 0 {}
    guard let current = files.text(of: events.path).map(GroupEvents.init) else { return }
    defer { seen = current }
    guard let pressure = current.pressure(since: seen ?? current) else { return }
    // Cached files alone bring a group to its limit all day. It is pressure only if somebody has to wait for it.
    if pressure == .warning, let stalls = events.stalls.flatMap({ files.text(of: $0) }).flatMap(PressureReading.init),
      stalls.pressure(by: settings) == nil
    {
      return
    }
    tell(pressure)
  }
}
#endif
