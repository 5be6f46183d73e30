import CacheEngine
@testable import CacheCore
#if os(Linux)
import CacheEngineTesting
import Foundation
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
final class KernelPressureSourceTests {
  private let kernel = FakeKernel()
  private let clock = ManualClock()
  private let settings = KernelPressureSettings(
    warning: PressureThreshold(.some, stall: .milliseconds(500), within: .seconds(10)),
    critical: PressureThreshold(.full, stall: .milliseconds(250), within: .seconds(5)), sampleInterval: .seconds(30))

  deinit { kernel.remove() }

  private func source() -> KernelPressureSource {
    KernelPressureSource(settings: settings, clock: clock, files: kernel.files)
  }

  @Test("Triggers are set as configured, on the machine and on the control group, and what they tell is passed on")
  func triggers() async throws {
    kernel.write("some avg10=0.00\n", to: "system")
    kernel.write("some avg10=0.00\n", to: "memory.pressure")
    kernel.permitsTriggers = true
    let source = source()
    #expect(kernel.triggers.isEmpty)
    let (subscription, told) = subscribe(to: source)
    #expect(kernel.triggers.map(\.path) == ["system", "system", "memory.pressure", "memory.pressure"])
    let texts = kernel.triggers.map { $0.receive() }
    #expect(
      texts == ["some 500000 10000000\0", "full 250000 5000000\0", "some 500000 10000000\0", "full 250000 5000000\0"])
    var events = told.makeAsyncIterator()
    kernel.triggers[1].fire()
    #expect(await events.next() == .critical)
    kernel.triggers[2].fire()
    // What was fired stays fired here, and is told again in each window that a busy machine lets pass.
    var next = await events.next()
    while next == .critical { next = await events.next() }
    #expect(next == .warning)
    subscription.cancel()
  }

  @Test("After the last subscription the thread has ended and its descriptors are closed; the next one begins anew")
  func stops() async throws {
    kernel.write("some avg10=0.00\n", to: "system")
    kernel.permitsTriggers = true
    let source = source()
    let (first, _) = subscribe(to: source)
    let (second, _) = subscribe(to: source)
    #expect(kernel.triggers.count == 2)
    for trigger in kernel.triggers { _ = trigger.receive() }
    first.cancel()
    #expect(!kernel.triggers[0].isClosed)
    second.cancel()
    for trigger in kernel.triggers { try await trigger.waitUntilClosed() }
    let (third, told) = subscribe(to: source)
    #expect(kernel.triggers.count == 4)
    kernel.triggers[2].fire()
    var events = told.makeAsyncIterator()
    #expect(await events.next() == .warning)
    third.cancel()
  }

  @Test("A source that nobody holds lives as long as its subscription")
  func lives() async {
    kernel.write("some avg10=0.00\n", to: "system")
    kernel.permitsTriggers = true
    weak var weakSource: KernelPressureSource?
    do {
      let (subscription, told) = { () -> (MemoryPressureSubscription, AsyncStream<MemoryPressure>) in
        let source = source()
        weakSource = source
        return subscribe(to: source)
      }()
      #expect(weakSource != nil)
      kernel.triggers[0].fire()
      var events = told.makeAsyncIterator()
      #expect(await events.next() == .warning)
      subscription.cancel()
    }
    #expect(weakSource == nil)
  }

  @Test("Where triggers are refused, the events of the control group are watched")
  func events() async {
    kernel.write("some avg10=0.00\n", to: "system")
    kernel.write("low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\n", to: "memory.events")
    let source = source()
    #expect(source.isAvailable)
    #expect(source.explanation.contains("/memory.events"))
    let (subscription, told) = subscribe(to: source)
    var events = told.makeAsyncIterator()
    kernel.write("low 0\nhigh 0\nmax 8\noom 1\noom_kill 0\n", to: "memory.events")
    #expect(await events.next() == .warning)
    kernel.write("low 0\nhigh 0\nmax 8\noom 1\noom_kill 1\n", to: "memory.events")
    #expect(await events.next() == .critical)
    subscription.cancel()
  }

  @Test("Meeting a limit without making anybody wait is no pressure, running out of memory always is")
  func confirmsEvents() async throws {
    kernel.write("low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", to: "memory.events")
    kernel.write("some avg10=0.10\nfull avg10=0.00\n", to: "memory.pressure")
    let (subscription, told) = subscribe(to: source())
    var events = told.makeAsyncIterator()
    let asked = kernel.reads(of: "memory.pressure")
    kernel.write("low 0\nhigh 0\nmax 5\noom 0\noom_kill 0\n", to: "memory.events")
    try await turns { kernel.reads(of: "memory.pressure") > asked }
    kernel.write("low 0\nhigh 0\nmax 5\noom 0\noom_kill 1\n", to: "memory.events")
    #expect(await events.next() == .critical)
    subscription.cancel()
  }

  @Test("Where the kernel tells nothing by itself, the averages are read at the interval of the settings")
  func samples() async {
    kernel.write("some avg10=4.99\nfull avg10=0.00\n", to: "system")
    let source = source()
    #expect(source.isAvailable)
    #expect(source.explanation.contains("is read every 30 s,"))
    #expect(source.explanation.contains("Permission denied"))
    let (subscription, told) = subscribe(to: source)
    var events = told.makeAsyncIterator()
    await clock.waitForSleepers()
    clock.advance(by: .seconds(30))
    await clock.waitForSleepers()
    kernel.write("some avg10=5.00\nfull avg10=0.00\n", to: "system")
    clock.advance(by: .seconds(30))
    #expect(await events.next() == .warning)
    await clock.waitForSleepers()
    kernel.write("some avg10=80.00\nfull avg10=5.00\n", to: "system")
    clock.advance(by: .seconds(30))
    #expect(await events.next() == .critical)
    subscription.cancel()
  }

  @Test("A file is read with pauses, even if the settings are changed to none")
  func pauses() async {
    kernel.write("some avg10=0.00\nfull avg10=0.00\n", to: "system")
    var settings = settings
    settings.sampleInterval = .zero
    let (subscription, _) = subscribe(
      to: KernelPressureSource(settings: settings, clock: clock, files: kernel.files))
    await clock.waitForSleepers()
    subscription.cancel()
  }

  @Test("Where there is nothing, the source says so and what to do, and listening is harmless")
  func unavailable() {
    let source = source()
    #expect(!source.isAvailable)
    #expect(source.explanation.contains("ManualPressureSource"))
    let listening = ScriptedLevel<String, Int>().listenToMemoryWarnings(from: source)
    listening.cancel()
  }

  @Test("The machine's own source explains itself, and begins and ends")
  func real() {
    #expect(!KernelPressureSource.system.explanation.isEmpty)
    let level = ScriptedLevel<String, Int>()
    let listening = level.listenToMemoryWarnings()
    listening.cancel()
  }

  @Test(
    "The control group's directory is found through the mount that shows it",
    arguments: [
      ("0::/", "/", "/sys/fs/cgroup"), ("0::/a/b", "/", "/sys/fs/cgroup/a/b"),
      ("5:memory:/x\n0::/docker/1", "/docker/1", "/sys/fs/cgroup"),
      ("0::/docker/1/inner", "/docker/1", "/sys/fs/cgroup/inner"), ("0::/docker/12", "/docker/1", nil),
      ("0::/../other", "/", nil), ("4:memory:/x", "/", nil),
    ] as [(String, String, String?)])
  func group(own: String, root: String, directory: String?) {
    kernel.write(own, to: "cgroup")
    kernel.write(
      """
      31 23 0:28 / /sys/fs rw,relatime - tmpfs tmpfs rw
      35 31 0:32 / /sys/fs/memory rw - cgroup cgroup rw,memory
      41 31 0:38 \(root) /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw

      """, to: "mountinfo")
    #expect(kernel.files.group == directory)
  }

  private func subscribe(
    to source: KernelPressureSource
  ) -> (MemoryPressureSubscription, AsyncStream<MemoryPressure>) {
    let (stream, continuation) = AsyncStream.makeStream(of: MemoryPressure.self)
    return (source.subscribe { continuation.yield($0) }, stream)
  }
}

/// A directory that looks like the kernel's, where triggers are sockets.
private final class FakeKernel: Sendable {
  private struct State {
    var permitsTriggers = false
    var triggers: [FakeTrigger] = []
    var reads: [String: Int] = [:]
  }

  private let directory = FileManager.default.temporaryDirectory.appending(path: "pressure-\(UUID())").path
  private let state = Mutex(State())

  init() {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      Issue.record(error)
    }
    write("0::/\n", to: "cgroup")
    write("41 31 0:38 / \(directory) rw,relatime - cgroup2 cgroup2 rw\n", to: "mountinfo")
  }

  var permitsTriggers: Bool {
    get { state.withLock { $0.permitsTriggers } }
    set { state.withLock { $0.permitsTriggers = newValue } }
  }

  var triggers: [FakeTrigger] { state.withLock { $0.triggers } }

  var files: PressureFiles {
    PressureFiles(
      system: "\(directory)/system", groups: "\(directory)/cgroup", mounts: "\(directory)/mountinfo",
      open: { [self] in open($0, $1) })
  }

  func reads(of name: String) -> Int { state.withLock { $0.reads[name, default: 0] } }

  /// Writes in place and at once, as the kernel does.
  func write(_ text: String, to name: String) {
    let descriptor = unsafe Glibc.open("\(directory)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    #expect(unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
  }

  func remove() {
    do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
  }

  private func open(_ path: String, _ flags: Int32) -> Int32 {
    let name = String(path.dropFirst(directory.count + 1))
    guard flags & O_RDWR != 0, unsafe access(path, F_OK) == 0 else {
      let descriptor = unsafe Glibc.open(path, flags)
      state.withLock { $0.reads[name, default: 0] += 1 }
      return descriptor
    }
    guard permitsTriggers else {
      errno = EACCES
      return -1
    }
    let (trigger, descriptor) = FakeTrigger.make(path: name)
    state.withLock { $0.triggers.append(trigger) }
    return descriptor
  }
}

/// The kernel's end of a trigger: a socket, whose urgent data wakes the other end as the kernel does.
private final class FakeTrigger: Sendable {
  let path: String
  private let descriptor: Int32

  static func make(path: String) -> (FakeTrigger, Int32) {
    var pair: [Int32] = [-1, -1]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    return (FakeTrigger(path: path, descriptor: pair[0]), pair[1])
  }

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// What was written into the file.
  func receive() -> String {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  func fire() {
    let byte: [UInt8] = [33]
    #expect(unsafe send(descriptor, byte, 1, Int32(MSG_OOB)) == 1)
  }

  /// Whether the other end is closed.
  var isClosed: Bool {
    var polled = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&polled, 1, 0) == 1 && polled.revents & Int16(POLLHUP) != 0
  }

  func waitUntilClosed() async throws { try await turns { isClosed } }
}
#endif
