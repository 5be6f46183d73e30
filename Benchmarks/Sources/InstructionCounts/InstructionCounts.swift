import CacheEngineTesting
import CCallgrind
import CacheEngine
import Foundation
import Synchronization

/// Walks the paths that matter often enough for their instructions to be counted, each between two marks.
///
/// `Scripts/count` runs it under callgrind and divides. Tasks run on the main thread: Valgrind dies where Dispatch hands over.
@main
struct InstructionCounts {
  /// Text keys of 25 bytes.
  static let keys = (0..<20_000).map { "user:profile:" + String(1_000_000_000_000 + $0).dropFirst() }
  /// A walk over half of the keys, which are held, the popular ones often.
  static let held = zipf(10_000, requests: 10_000)
  /// The same over all keys, with room for a tenth.
  static let all = zipf(20_000, requests: 10_000)

  static func main() {
    guard callgrind_is_running() != 0 else {
      FileHandle.standardError.write(Data("run this by Scripts/count, which counts\n".utf8))
      exit(2)
    }
    // Not by an executor that the tasks prefer, which would take a lock whenever a function that waits has returned.
    jobs_keep()
    let isDone = Atomic(false)
    Task.detached {
      do { try await walk() } catch { fatalError("\(error)") }
      isDone.store(true, ordering: .relaxed)
    }
    while !isDone.load(ordering: .relaxed) { jobs_run_one() }
  }

  static func walk() async throws {
    var sum = 0
    try await count("an empty loop", operations: held.count) { sum &+= held[$0] }
    try await memory()
    try await stacks()
    try await loads()
    try await disk()
    if sum == 42 { print(sum) }
  }

  /// Runs a body a few times first, so that what is made once is not counted.
  @inline(__always)
  static func count(_ name: String, operations: Int, _ body: (Int) async throws -> Void) async throws {
    for number in 0..<min(operations, 1_000) { try await body(number) }
    callgrind_begin()
    for number in 0..<operations { try await body(number) }
    callgrind_end("\(name)|\(operations)")
  }

  /// Numbers of requests of which a few are frequent: the n-th with a weight of 1/n^0.99.
  static func zipf(_ count: Int, requests: Int) -> [Int] {
    var sum = 0.0
    let cumulated = (1...count).map { rank in
      sum += 1 / pow(Double(rank), 0.99)
      return sum
    }
    var generator = SeededGenerator(seed: 1)
    let order = (0..<count).shuffled(using: &generator)
    return (0..<requests).map { _ in
      let sought = Double.random(in: 0..<sum, using: &generator)
      return order[cumulated.firstIndex { $0 > sought } ?? 0]
    }
  }
}
