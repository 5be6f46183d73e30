import CacheEngineTesting
import Foundation

enum Workload {
  static func keys(_ count: Int) -> [String] {
    (0..<count).map { "user:profile:" + String(format: "%012d", $0) }
  }

  /// Bytes that nothing can compress.
  static func value(_ count: Int) -> Data {
    var generator = SeededGenerator(seed: 7)
    var bytes = [UInt64]()
    for _ in 0..<(count + 7) / 8 { bytes.append(generator.next()) }
    return bytes.withUnsafeBytes { Data($0.prefix(count)) }
  }

  /// Nanoseconds an operation.
  static func time(_ operations: Int, _ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let began = clock.now
    try await body()
    return began.duration(to: clock.now) / .nanoseconds(1) / Double(operations)
  }

  /// Nanoseconds an operation, and how many of these the processors worked on it, the kernel and other threads included.
  ///
  /// Where others use the machine too, the second number says more.
  static func timeAndWork(
    _ operations: Int, _ body: () async throws -> Void
  ) async rethrows -> (time: Double, work: Double) {
    let before = clock()
    let time = try await time(operations, body)
    return (time, Double(clock() - before) / Double(CLOCKS_PER_SEC) * 1e9 / Double(operations))
  }

  /// Nanoseconds an operation where so many tasks share the operations.
  static func time(
    _ operations: Int, tasks: Int, _ body: @escaping @Sendable (_ operation: Int) async throws -> Void
  ) async throws -> Double {
    let clock = ContinuousClock()
    let began = clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for operation in stride(from: task, to: operations, by: tasks) { try await body(operation) }
        }
      }
      try await group.waitForAll()
    }
    return began.duration(to: clock.now) / .nanoseconds(1) / Double(operations)
  }

  /// Writes out what a directory holds and lets the page cache forget it.
  ///
  /// What the disk itself keeps in memory stays there.
  static func forget(_ directory: String) {
    let names = FileManager.default.subpaths(atPath: directory) ?? []
    for name in names {
      let file = open(directory + "/" + name, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      fsync(file)
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
      close(file)
    }
  }
}
