import CacheEngine
import CacheEngineTesting

/// What 10, 100 and 1,000 processes do to a server and to each other, run on virtual time, and what more would do, calculated.
@main
struct FleetGrowth {
  private static let usage = """
    usage: FleetGrowth [--seed 1] [--processes 10,100,1000]

    Prints tables for the article Growth: a key that all processes miss at once, reads and writes for a while, and how they
    connect again after the server was away. Up to 1,000 processes, for the first table 10,000, are run with the real levels
    on virtual time; for more, numbers are calculated.
    """

  static func main() async throws {
    var seed: UInt64 = 1
    var counts = [10, 100, 1_000, 10_000, 100_000]
    var arguments = CommandLine.arguments.dropFirst()
    while let option = arguments.popFirst() {
      let value = arguments.popFirst() ?? ""
      let numbers = value.split(separator: ",").compactMap { Int($0) }
      switch option {
      case "--seed" where UInt64(value) != nil: seed = UInt64(value) ?? 1
      case "--processes" where !numbers.isEmpty && numbers.allSatisfy { $0 > 1 }: counts = numbers
      default: return print(usage)
      }
    }
    print("| processes | loads | commands | the last has it after |\n|---|---|---|---|")
    for count in counts {
      let fleet = Fleet(count, seed: seed)
      let isRun = count <= 10_000
      let herd = isRun ? try await fleet.herd() : fleet.expectedHerd
      print("| \(name(count, isRun)) | \(herd.loads) | \(herd.commands) | \(text(herd.last)) |")
    }
    print("\n| processes | answered above | pushes a second | the server is busy | stale |\n|---|---|---|---|---|")
    for count in counts {
      let fleet = Fleet(count, seed: seed)
      let isRun = count <= 1_000
      let work = isRun ? try await fleet.work(requests: 40 + 20_000 / count) : fleet.expectedWork
      print(
        "| \(name(count, isRun)) | \(percent(work.hitRatio)) | \(Int(work.pushesPerSecond)) "
          + "| \(percent(work.utilization)) | \(work.stale) |")
    }
    print("\n| processes | connections a second at most | all are back after |\n|---|---|---|")
    for count in counts {
      let (most, last) = Reconnecting(count, seed: seed).connections(outage: .seconds(30))
      print("| \(name(count, true)) | \(most) | \(text(last)) |")
    }
  }

  private static func name(_ count: Int, _ isRun: Bool) -> String { isRun ? "\(count)" : "\(count), calculated" }
  private static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }
  private static func text(_ duration: Duration) -> String { "\((duration / .milliseconds(1)).rounded()) ms" }
}

extension Fleet {
  /// What ``herd()`` gives, as far as it can be said: each process reads, asks for the time, tries to take the lease, and then
  /// looks again until the value is there; the server does all that one after the other.
  var expectedHerd: Herd {
    let wave = costs.command * count
    let loaded = wave * 2 + costs.roundTrip * 4 + loading
    // As `sharedPool` waits: 2 ms, and each time half as much again up to 50 ms.
    var (polls, at, pause) = (0, wave * 3 + costs.roundTrip * 3, Duration.milliseconds(2))
    repeat {
      at += max(pause + costs.roundTrip, wave)
      pause = min(pause * 1.5, .milliseconds(50))
      polls += 1
    } while at < loaded
    return Herd(loads: 1, commands: count * (3 + polls), last: max(at, loaded) + pause / 4)
  }

  /// What ``work(requests:)`` gives: a copy lives until any process writes its key, so between two writes of a key by anybody
  /// a process finds it above but the first time.
  var expectedWork: Work {
    var work = Work()
    let (reads, changes) = (1 - writes, writes * Double(count))
    work.reads = 1_000_000
    work.hits = Int(1_000_000 * reads / (reads + changes))
    let (writesPerSecond, misses) = (rate * changes, rate * reads * Double(count) * (1 - work.hitRatio))
    work.elapsed = .seconds(1)
    work.load.commands = Int(writesPerSecond + misses)
    work.load.pushes = Int(writesPerSecond * Double(count - 1))
    work.load.busy = costs.command * work.load.commands + costs.push * work.load.pushes
    return work
  }
}

/// Processes whose server is away for a while, and which try again as `RedisStore` does.
struct Reconnecting {
  let count: Int
  let seed: UInt64
  /// `RedisSettings.pauses`, as they are by default.
  var pauses = (first: Duration.milliseconds(20), last: Duration.seconds(5))

  init(_ count: Int, seed: UInt64) {
    self.count = count
    self.seed = seed
  }

  /// How many connect in the busiest second after the server is there again, and when the last one has.
  func connections(outage: Duration) -> (mostPerSecond: Int, last: Duration) {
    var generator = SeededGenerator(seed: seed)
    let moments = (0..<count).map { _ in
      var (at, failures) = (Duration.zero, 0)
      while at < outage {
        let pause = min(pauses.first * Double(1 << min(failures, 20)), pauses.last)
        at += pause * Double.random(in: 0.5...1, using: &generator)
        failures += 1
      }
      return at - outage
    }.sorted()
    var (most, first) = (0, 0)
    for (place, moment) in moments.enumerated() {
      while moment - moments[first] >= .seconds(1) { first += 1 }
      most = max(most, place - first + 1)
    }
    return (most, moments.last ?? .zero)
  }
}
