import CacheEngine

/// Plays the moments of a demonstration in their time.
struct DemoPlayer: Sendable {
  let steps: [DemoStep]
  let clock: any CacheClock

  func play(_ perform: @Sendable (DemoStep) async -> Void) async {
    let began = clock.now
    for step in steps {
      do { try await clock.sleep(until: began.advanced(by: step.at), tolerance: nil) } catch { return }
      await perform(step)
    }
  }
}
