import CacheEngineTesting
import CacheEngine
import Foundation
import Testing

/// What a histogram tells of durations whose exact figures are known.
struct LatencyHistogramTests {
  private func durations(_ seed: UInt64) -> [Duration] {
    var generator = SeededGenerator(seed: seed)
    return (0..<3_000).map { _ in
      // As many of every size, from nanoseconds to a quarter of an hour.
      let most = Int64(1) << Int64.random(in: 0...39, using: &generator)
      return .nanoseconds(Int64.random(in: 0...most, using: &generator))
    }
  }

  private func histogram(_ durations: some Sequence<Duration>) -> LatencyHistogram {
    durations.reduce(into: LatencyHistogram()) { $0.record($1) }
  }

  @Test(
    "A percentile is never too low, and too high by less than a sixteenth of itself", arguments: [1, 2, 3] as [UInt64])
  func bound(seed: UInt64) throws {
    let durations = durations(seed).sorted()
    let histogram = histogram(durations.shuffled())
    for share in [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1] {
      let place = max(1, Int((share * Double(durations.count)).rounded(.up)))
      let (exact, told) = (durations[place - 1], try #require(histogram.percentile(share)))
      #expect(told == exact || told > exact && told < exact + exact / 16, "\(share): \(told) for \(exact)")
    }
  }

  @Test("What is shorter than 32 ns is told exactly", arguments: 0..<32)
  func short(nanoseconds: Int) {
    #expect(histogram([.nanoseconds(nanoseconds), .seconds(1)]).percentile(0) == .nanoseconds(nanoseconds))
  }

  @Test("Number, sum and longest are exact, of all, of two together and of what came between")
  func exact() {
    let (first, second) = (durations(4), durations(5))
    let (before, between) = (histogram(first), histogram(second))
    #expect(before.sum == first.reduce(.zero, +))
    #expect(before.count == 3_000 && before.max == first.max())
    var both = before
    both += between
    #expect(both == histogram(first + second))
    #expect(both.since(before).sum == second.reduce(.zero, +))
    var endless = LatencyHistogram()
    for _ in 0..<3 { endless.record(.seconds(Int64.max)) }
    #expect(endless.sum == .nanoseconds(Int64.max))
    var negative = LatencyHistogram()
    negative.record(.seconds(-1))
    #expect(negative.sum == .zero && negative.count == 1)
  }

  @Test("Cumulative counts are those of durations that are at most so long, give or take a sixteenth")
  func cumulative() {
    let durations = durations(6)
    let histogram = histogram(durations)
    let bounds: [Duration] = [
      .zero, .nanoseconds(15), .microseconds(5), .milliseconds(1), .milliseconds(100), .seconds(3), .seconds(10_000),
    ]
    let told = histogram.counts(upTo: bounds)
    for (bound, count) in zip(bounds, told) {
      #expect(count >= durations.count { $0 <= bound })
      #expect(count <= durations.count { $0 <= bound + bound / 16 })
    }
    #expect(told.last == 3_000 && told == told.sorted())
    #expect(histogram.counts(upTo: bounds.reversed()) == told.reversed())
    #expect(histogram.counts(upTo: [.seconds(-1)]) == [0])
    #expect(LatencyHistogram().counts(upTo: bounds) == bounds.map { _ in 0 })
  }

  @Test("A histogram comes out of JSON as it went in, and one that cannot be is refused")
  func coding() throws {
    for histogram in [histogram(durations(7)), histogram([]), histogram([.zero])] {
      let data = try JSONEncoder().encode(histogram)
      #expect(try JSONDecoder().decode(LatencyHistogram.self, from: data) == histogram)
    }
    for buckets in ["[10000,1]", "[-1,1]", "[3,0]", "[3,-4]", "[3,9223372036854775807]"] {
      let text = "{\"max\":1,\"sum\":1,\"buckets\":\(buckets)}"
      #expect(throws: DecodingError.self, "\(buckets)") {
        try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8))
      }
    }
  }

  @Test("A histogram whose longest duration cannot be is read as one that its buckets can have")
  func contradiction() throws {
    // Bucket 64 holds 128 to 135 ns.
    for (max, held) in [(-5, 128), (7, 128), (131, 131), (1_000, 135)] {
      let text = "{\"max\":\(max),\"sum\":130,\"buckets\":[3,1,64,1]}"
      let histogram = try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8))
      #expect(histogram.max == .nanoseconds(held), "\(max)")
      #expect(histogram.percentile(1) == .nanoseconds(held), "\(max)")
      #expect(histogram.counts(upTo: [.nanoseconds(3), .nanoseconds(200)]) == [1, 2], "\(max)")
    }
  }
}
