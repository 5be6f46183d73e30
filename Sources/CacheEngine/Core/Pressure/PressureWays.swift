#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The ways in which pressure can be noticed here, opened.
///
/// Best is a trigger, by which the kernel wakes us: on the whole machine's stalls and on those of our control group.
/// Containers often may not set them; then the events of the control group tell that it met its limits. If there is
/// neither, the averages can still be read from time to time.
struct PressureWays: Sendable {
  struct Trigger: Sendable {
    let descriptor: PressureDescriptor
    let pressure: MemoryPressure
    let window: Duration
  }

  struct Events: Sendable {
    /// Becomes readable when the file changes.
    let descriptor: PressureDescriptor
    let path: String
    /// What it said when we began to watch.
    let seen: GroupEvents
    /// Tells whether meeting a limit made anybody wait; `nil` where that cannot be read.
    let stalls: String?
  }

  private(set) var triggers: [Trigger] = []
  private(set) var events: Events?
  /// A file to look into, if there is no better way.
  private(set) var sampled: String?
  private(set) var explanation: String

  init(_ files: PressureFiles, settings: KernelPressureSettings) {
    let group = files.group
    let groupStalls = group.map { "\($0)/memory.pressure" }
    var trigged: [String] = []
    var refusals: [String: String] = [:]
    for path in [files.system, groupStalls].compactMap(\.self) {
      do {
        triggers += try [(settings.warning, .warning), (settings.critical, .critical)].map { threshold, pressure in
          try Self.trigger(threshold, pressure, on: path, files)
        }
        trigged.append(path)
      } catch let failure as SystemFailure {
        refusals[path] = failure.text
      } catch {}
    }
    if let group, let groupStalls, !trigged.contains(groupStalls) {
      events = Self.events(of: group, stalls: groupStalls, files)
    }
    let told = trigged + [events?.path].compactMap(\.self)
    if !told.isEmpty {
      explanation = "the kernel tells of memory pressure in \(told.joined(separator: " and "))"
      return
    }
    sampled = [files.system, groupStalls].compactMap(\.self).first {
      files.text(of: $0).flatMap(PressureReading.init) != nil
    }
    explanation =
      if let sampled {
        "\(sampled) is read every \(settings.sampleInterval.text), since triggers are not permitted here (\(refusals[sampled] ?? ""))"
      } else {
        "there is neither \(files.system), which takes a kernel with CONFIG_PSI that is started with psi=1, nor a "
          + "control group v2 with a memory controller; send warnings by a ManualPressureSource"
      }
  }

  private static func trigger(
    _ threshold: PressureThreshold, _ pressure: MemoryPressure, on path: String, _ files: PressureFiles
  ) throws -> Trigger {
    guard let descriptor = files.open(path, flags: O_RDWR | O_NONBLOCK) else { throw SystemFailure("open") }
    // The kernel wants the zero at the end.
    let text = Array(threshold.trigger.utf8) + [0]
    guard unsafe write(descriptor.number, text, text.count) == text.count else { throw SystemFailure("write") }
    return Trigger(descriptor: descriptor, pressure: pressure, window: threshold.window)
  }

  private static func events(of group: String, stalls: String, _ files: PressureFiles) -> Events? {
    let path = "\(group)/memory.events"
    let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard number >= 0 else { return nil }
    let descriptor = PressureDescriptor(number)
    guard unsafe inotify_add_watch(number, path, UInt32(IN_MODIFY)) >= 0,
      let seen = files.text(of: path).map(GroupEvents.init)
    else { return nil }
    return Events(
      descriptor: descriptor, path: path, seen: seen, stalls: files.text(of: stalls) == nil ? nil : stalls)
  }
}
#endif
