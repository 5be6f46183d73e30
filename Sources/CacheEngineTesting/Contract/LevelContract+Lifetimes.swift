import CacheEngine

extension LevelContract {
  /// What is promised of deadlines, by a level that has them, and of durable values.
  var lifetimeChecks: [Check] {
    (capabilities.contains(.expiring) ? [carriesDeadline, expires, keepsTerms] : [])
      + (capabilities.contains(.durable) ? [survives] : [])
  }

  private var carriesDeadline: Check {
    let (key, values) = (keys[0], values)
    return check("deadline", "a lookup tells the deadline") { trial in
      let clock = try trial.clock()
      try await trial.level.set(values[0], forKey: key, expiry: .after(.seconds(60)))
      let deadline = clock.now.advanced(by: .seconds(60))
      clock.advance(by: .seconds(1))
      trial.expect("the deadline", try await trial.level.lookup(key).entry?.deadline, is: deadline)
      try await trial.level.set(values[1], forKey: key, expiry: .at(deadline))
      trial.expect("the deadline", try await trial.level.lookup(key).entry?.deadline, is: deadline)
      try await trial.level.set(values[1], forKey: key, expiry: .never)
      trial.expect("the deadline", try await trial.level.lookup(key).entry?.deadline, is: nil)
    }
  }

  private var expires: Check {
    let (keys, values) = (keys, values)
    return check("expired", "at its deadline an entry is a miss, expired; before it, a hit") { trial in
      let clock = try trial.clock()
      for key in keys.prefix(2) { try await trial.level.set(values[0], forKey: key, expiry: .after(.seconds(60))) }
      clock.advance(by: .seconds(60) - .nanoseconds(1))
      for key in keys.prefix(2) { try await trial.expectGet(key, is: values[0], " a nanosecond before its deadline") }
      clock.advance(by: .nanoseconds(1))
      trial.expect("the peek at the deadline", trial.level.peek(keys[0]), is: nil)
      trial.expect("the reason", try await trial.level.lookup(keys[0]).missReason, is: .expired)
      try await trial.expectGet(keys[1], is: nil, " at its deadline")
      try await trial.level.set(values[1], forKey: keys[0], expiry: .after(.seconds(60)))
      try await trial.expectGet(keys[0], is: values[1], ", set anew,")
    }
  }

  private var keepsTerms: Check {
    let (key, values) = (keys[0], values)
    return check("terms", "a set lives as long as asked; a back-fill keeps its deadline, within the level's lifetime") {
      trial in
      let (clock, expiry) = (try trial.clock(), trial.subject.expiry)
      let most = expiry.deadline(by: clock)
      func deadline() async throws -> CacheInstant? { try await trial.level.lookup(key).entry?.deadline }
      try await trial.level.set(values[0], forKey: key, expiry: .after(.seconds(7)))
      try await trial.level.set(values[1], forKey: key)
      trial.expect("the deadline after a set without a lifetime", try await deadline(), is: most)
      let late = (most ?? clock.now).advanced(by: .seconds(100))
      try await trial.level.set(values[0], forKey: key, expiry: .at(late))
      trial.expect("the deadline of a set beyond the level's lifetime", try await deadline(), is: late)
      let soon = clock.now.advanced(by: .milliseconds(5))
      try await trial.level.store(values[1], forKey: key, terms: .backFill(deadline: soon))
      trial.expect("the deadline of a back-fill", try await deadline(), is: soon)
      try await trial.level.store(values[0], forKey: key, terms: .backFill(deadline: late))
      trial.expect("the deadline of a back-fill beyond the level's lifetime", try await deadline(), is: most ?? late)
      try await trial.level.store(values[1], forKey: key, terms: .backFill(deadline: nil))
      trial.expect("the deadline of a back-fill that has none", try await deadline(), is: most)
    }
  }

  private var survives: Check {
    let (keys, values, capabilities) = (keys, values, capabilities)
    return check("reopened", "values, removals and deadlines are there after reopening") { trial in
      try await trial.level.set(values[0], forKey: keys[0])
      try await trial.level.set(values[0], forKey: keys[1])
      try await trial.level.remove(keys[0])
      try await trial.level.set(values[1], forKey: keys[1], expiry: .after(.seconds(60)))
      let level = try await trial.reopened()
      trial.expect("a removed key", try await level.get(keys[0]), is: nil)
      let answer = try await level.lookup(keys[1])
      trial.expect("a value", answer.entry?.value, is: values[1])
      guard capabilities.contains(.expiring) else { return }
      let deadline = try trial.clock().now.advanced(by: .seconds(60))
      trial.expect("the deadline", answer.entry?.deadline, is: deadline)
    }
  }
}
