package import CacheEngine

/// Plays the moments of a demonstration in their time.
package struct DemoPlayer: Sendable {
  package let steps: [DemoStep]
  package let clock: any CacheClock

  package init(steps: [DemoStep], clock: any CacheClock) {
    self.steps = steps
    self.clock = clock
  }

  package func play(_ perform: @Sendable (DemoStep) async -> Void) async {
    let began = clock.now
    for step in steps {
      do { try await clock.sleep(until: began.advanced(by: step.at), tolerance: nil) } catch { return }
      await perform(step)
    }
  }
}
