import CacheEngine
import Foundation

/// Measures what a disk level costs a process that has its directory for itself, one that owns a shared one, and one that asks
/// the owner.
///
/// The owner that is asked is this program once more. All three take their turns in every round.
@main
struct SharedBenchmarks {
  typealias Level = DiskCacheLevel<String, Data>

  static let count = 2_000
  static let rounds = 15

  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count > 2, arguments[1] == "own" { return try await own(arguments[2]) }
    try await Task.detached { try await measure() }.value
  }

  private static func open(_ path: String, _ sharing: StoreSharing = .acrossProcesses) throws -> Level {
    try Level(directory: path, capacity: 64 << 20, sharing: sharing)
  }

  /// Serves until the standard input ends, as it does when whoever started this program has ended.
  private static func own(_ path: String) async throws {
    let level = try open(path)
    print("open")
    fflush(nil)
    _ = readLine()
    try await level.close()
  }

  private static func measure() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let owner = Process()
    let (input, output) = (Pipe(), Pipe())
    owner.executableURL = URL(filePath: CommandLine.arguments[0])
    owner.arguments = ["own", folder + "/asked"]
    (owner.standardInput, owner.standardOutput) = (input, output)
    try owner.run()
    _ = output.fileHandleForReading.availableData
    let levels = [
      ("alone", try open(folder + "/alone", .exclusive)), ("owner", try open(folder + "/owner")),
      ("asks", try open(folder + "/asked")),
    ]
    for bytes in [1 << 10, 256 << 10] {
      let value = Data(repeating: 7, count: bytes)
      let count = bytes > 4_096 ? count / 20 : count
      var gets = [[Duration]](repeating: [], count: levels.count)
      var sets = gets
      for round in 0..<rounds {
        for (place, (_, level)) in levels.enumerated() {
          for number in 0..<count {
            let key = "\(number % 100)"
            let set = try await ContinuousClock().measure { try await level.set(value, forKey: key) }
            if round > 0 { sets[place].append(set) }
          }
          for number in 0..<count {
            let key = "\(number % 100)"
            var found: Data?
            let get = try await ContinuousClock().measure { found = try await level.get(key) }
            guard found == value else { fatalError("a wrong value") }
            if round > 0 { gets[place].append(get) }
          }
        }
      }
      for (place, (name, _)) in levels.enumerated() {
        print("\(bytes) bytes, \(name): get \(text(gets[place])), set \(text(sets[place]))")
      }
    }
    for (_, level) in levels { try await level.close() }
    input.fileHandleForWriting.closeFile()
    owner.waitUntilExit()
  }

  private static func text(_ times: [Duration]) -> String {
    let sorted = times.sorted()
    func microseconds(_ share: Double) -> String {
      String(format: "%.1f", sorted[Int(Double(sorted.count - 1) * share)] / .microseconds(1))
    }
    return "\(microseconds(0.5)) us (99 of 100: \(microseconds(0.99)) us)"
  }
}
