import CacheEngine
import Testing

@testable import FleetGrowth

/// The simulation behind the article Growth: that it gives what the article says, and that what is calculated fits what is run.
@Suite(.timeLimit(.minutes(10)))
struct FleetGrowthTests {
  @Test(
    "G6 of processes that miss a key at once one loads it, and the calculated herd is of the size of the one that is run"
  )
  func herd() async throws {
    let fleet = Fleet(100, seed: 1)
    let (herd, expected) = (try await fleet.herd(), fleet.expectedHerd)
    #expect(herd.loads == 1)
    #expect(herd.last >= fleet.loading)
    let share = Double(expected.commands) / Double(herd.commands)
    #expect((0.75...1.33).contains(share), "\(herd), \(expected)")
    #expect((0.75...1.33).contains(expected.last / herd.last), "\(herd), \(expected)")
  }

  @Test(
    "G1 G2 nobody serves what he heard was changed, and copies die with the writes of all, as calculated",
    arguments: [10, 40])
  func work(count: Int) async throws {
    let fleet = Fleet(count, seed: 2)
    let (work, expected) = (try await fleet.work(requests: 8_000 / count), fleet.expectedWork)
    #expect(work.stale == 0)
    #expect(work.reads > 3_000)
    #expect(abs(work.hitRatio - expected.hitRatio) < 0.1, "\(work), \(expected)")
    // Each write is told to everybody else, whether he has a copy or not.
    #expect(work.load.pushes % (count - 1) == 0)
    #expect((0.6...1.67).contains(work.pushesPerSecond / expected.pushesPerSecond), "\(work), \(expected)")
  }

  @Test("A source that takes long holds nobody up longer than it takes and the longest pause")
  func slowSource() async throws {
    var fleet = Fleet(20, seed: 3)
    fleet.loading = .seconds(2)
    let herd = try await fleet.herd()
    #expect(herd.loads == 1)
    #expect(herd.last < .milliseconds(2_100))
  }

  @Test("Who comes back after an outage comes spread over the longest pause")
  func reconnecting() {
    let (most, last) = Reconnecting(1_000, seed: 4).connections(outage: .seconds(30))
    #expect(last <= .seconds(5))
    #expect((200...500).contains(most))
    var hasty = Reconnecting(1_000, seed: 4)
    hasty.pauses.last = .milliseconds(20)
    #expect(hasty.connections(outage: .seconds(30)).mostPerSecond == 1_000)
  }

  @Test("Virtual time goes to the next who wakes, in order, and not on while anybody is awake")
  func time() async throws {
    let time = VirtualTime()
    let begin = time.now
    let moments = Moments()
    try await time.run(3) { number in
      for step in 1...3 {
        try await time.sleep(until: begin.advanced(by: .seconds(step * 10 + number)), tolerance: nil)
        await moments.add(begin.duration(to: time.now))
      }
    }
    #expect(await moments.all == [10, 11, 12, 20, 21, 22, 30, 31, 32].map { Duration.seconds($0) })
  }

  private actor Moments {
    var all: [Duration] = []
    func add(_ moment: Duration) { all.append(moment) }
  }
}
