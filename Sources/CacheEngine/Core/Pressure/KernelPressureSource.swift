import Synchronization

#if canImport(Darwin)
import Dispatch
#endif

/// Reports memory pressure as the operating system measures it.
///
/// On Apple platforms that is the system's own notification. On Linux it is the first of these that the kernel
/// permits:
///
/// | way | delay | needs |
/// |---|---|---|
/// | triggers on stalls of the machine and of the control group | within the window | a kernel with PSI; windows of 2 s, or `CAP_SYS_RESOURCE` |
/// | the `memory.events` of the control group | at once | control groups v2 |
/// | reading the average stalls | ``KernelPressureSettings/sampleInterval`` | a kernel with PSI |
///
/// If there is none, ``isAvailable`` is false and ``explanation`` says why; subscribing is then harmless. Nothing is
/// opened and no thread runs before the first subscription and after the last.
public final class KernelPressureSource: MemoryPressureSource {
  /// The source that caches listen to by default.
  public static let system = KernelPressureSource()

  private struct State {
    var watch: Watch?
    var subscriptions = 0
  }

  private let subscribers = PressureSubscribers()
  private let begin: @Sendable (PressureSubscribers) -> Watch?
  private let probe: @Sendable () -> (isAvailable: Bool, explanation: String)
  private let state = Mutex(State())

  /// Whether the system reports memory pressure here.
  public var isAvailable: Bool { probe().isAvailable }

  /// Which files of the kernel are watched or read, or why there is nothing to watch.
  public var explanation: String { probe().explanation }

  /// Calls a closure whenever the system reports memory pressure.
  ///
  /// - Parameter receive: Called on a thread of the source. It returns soon and does not block.
  /// - Returns: The subscription. The source lives as long as there is one.
  public func subscribe(_ receive: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
    let id = subscribers.add(receive)
    state.withLock { state in
      state.subscriptions += 1
      // Under the lock, so that there is never a second watch: opening a few files of the kernel takes no time.
      if state.watch == nil { state.watch = begin(subscribers) }
    }
    return MemoryPressureSubscription { [self] in
      subscribers.remove(id)
      let watch = state.withLock { state -> Watch? in
        state.subscriptions -= 1
        guard state.subscriptions == 0 else { return nil }
        defer { state.watch = nil }
        return state.watch
      }
      watch?.stop()
    }
  }

  /// Something that tells of pressure until it is stopped.
  struct Watch: Sendable {
    let stop: @Sendable () -> Void
  }

  #if os(Linux)
  /// Creates a source.
  ///
  /// - Parameters:
  ///   - settings: What counts as pressure.
  ///   - clock: The clock by which averages are read, where they have to be.
  public convenience init(
    settings: KernelPressureSettings = KernelPressureSettings(), clock: any CacheClock = SystemClock()
  ) {
    self.init(settings: settings, clock: clock, files: PressureFiles())
  }

  init(settings: KernelPressureSettings, clock: any CacheClock, files: PressureFiles) {
    probe = {
      let ways = PressureWays(files, settings: settings)
      return (!ways.triggers.isEmpty || ways.events != nil || ways.sampled != nil, ways.explanation)
    }
    begin = { subscribers in
      let ways = PressureWays(files, settings: settings)
      if let sampled = ways.sampled {
        let task = Task {
          await Self.sample(sampled, files: files, settings: settings, clock: clock, tell: subscribers.tell)
        }
        return Watch(stop: { task.cancel() })
      }
      guard !ways.triggers.isEmpty || ways.events != nil else { return nil }
      do {
        let watch = try PressureWatch.start(ways, files: files, settings: settings, tell: subscribers.tell)
        return Watch(stop: { watch.stop() })
      } catch {
        return nil
      }
    }
  }

  /// Reads the averages, which wait for no disk, until the task is cancelled.
  private static func sample(
    _ path: String, files: PressureFiles, settings: KernelPressureSettings, clock: any CacheClock,
    tell: @Sendable (MemoryPressure) -> Void
  ) async {
    while true {
      do {
        // Nothing keeps the settings from being changed to no time, which would take a thread for itself.
        let pause = max(settings.sampleInterval, .milliseconds(1))
        try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: .seconds(1))
      } catch {
        return
      }
      let reading = files.text(of: path).flatMap(PressureReading.init)
      if let pressure = reading?.pressure(by: settings) { tell(pressure) }
    }
  }
  #elseif canImport(Darwin)
  /// Creates a source.
  ///
  /// - Parameters:
  ///   - settings: Not used here: the system has thresholds of its own.
  ///   - clock: Not used here.
  public init(settings: KernelPressureSettings = KernelPressureSettings(), clock: any CacheClock = SystemClock()) {
    probe = { (true, "the system tells of memory pressure") }
    begin = { subscribers in
      let queue = DispatchQueue(label: "CacheEngine.pressure")
      let sources = [
        EventSource(.warning, queue) { subscribers.tell(.warning) },
        EventSource(.critical, queue) { subscribers.tell(.critical) },
      ]
      return Watch(stop: { for source in sources { source.cancel() } })
    }
  }

  /// Listens for one event, so that the handler need not ask the source which one it was.
  ///
  /// Unchecked: Dispatch lets a source be cancelled from any thread, and nothing else is done with it.
  private final class EventSource: @unchecked Sendable {
    private let source: any DispatchSourceMemoryPressure

    init(
      _ event: DispatchSource.MemoryPressureEvent, _ queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
    ) {
      source = DispatchSource.makeMemoryPressureSource(eventMask: event, queue: queue)
      source.setEventHandler(handler: handler)
      source.activate()
    }

    func cancel() { source.cancel() }
  }
  #else
  /// Creates a source that is not available here.
  ///
  /// - Parameters:
  ///   - settings: Not used here.
  ///   - clock: Not used here.
  public init(settings: KernelPressureSettings = KernelPressureSettings(), clock: any CacheClock = SystemClock()) {
    probe = { (false, "this system does not tell of memory pressure; send warnings by a ManualPressureSource") }
    begin = { _ in nil }
  }
  #endif
}
