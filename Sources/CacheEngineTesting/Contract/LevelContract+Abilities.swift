import CacheEngine

extension LevelContract {
  /// What is promised of a level that stores on conditions, or removes by conditions or by tags; nothing of any other.
  ///
  /// A level that hides another one says only when it is asked that the one inside cannot; then nothing is promised either.
  var abilityChecks: [Check] {
    (Level.self is any ConditionalLevel.Type ? [storesOnCondition] : [])
      + (Level.self is any SelectiveRemoval.Type ? [removesByCondition] : [])
      + (Level.self is any TaggedLevel.Type ? [removesByTag] : [])
  }

  private var storesOnCondition: Check {
    let (key, values) = (keys[0], values)
    return check("condition", "a value is stored on a condition if that holds, and only then") { trial in
      guard let level = trial.level as? any ConditionalLevel<Level.Key, Level.Value> else { return }
      guard let isReplaced = try await Self.ifSupported({ try await level.replace(values[0], forKey: key) }) else {
        return
      }
      trial.expect("whether something was replaced where nothing was", isReplaced, is: false)
      try await trial.expectGet(key, is: nil)
      trial.expect(
        "whether it was stored where nothing was", try await level.setIfAbsent(values[0], forKey: key), is: true)
      try await trial.expectGet(key, is: values[0])
      trial.expect("whether it was added to a value", try await level.setIfAbsent(values[1], forKey: key), is: false)
      try await trial.expectGet(key, is: values[0])
      trial.expect("whether a value was replaced", try await level.replace(values[1], forKey: key), is: true)
      try await trial.expectGet(key, is: values[1])
    }
  }

  private var removesByCondition: Check {
    let (keys, values) = (keys, values)
    return check("remove-where", "a removal by condition takes the keys that meet it, and no other") { trial in
      guard let level = trial.level as? any SelectiveRemoval<Level.Key, Level.Value> else { return }
      for (key, value) in zip(keys.prefix(2), values) { try await trial.level.set(value, forKey: key) }
      guard let none = try await Self.ifSupported({ try await level.removeAll { _ in false } }) else { return }
      trial.expect("how many keys met no condition", none, is: 0)
      for (key, value) in zip(keys.prefix(2), values) { try await trial.expectGet(key, is: value) }
      trial.expect("whether an entry was removed", try await level.removeAll { $0 == keys[0] } > 0, is: true)
      try await trial.expectGet(keys[0], is: nil)
      try await trial.expectGet(keys[1], is: values[1])
    }
  }

  private var removesByTag: Check {
    let (keys, values) = (keys, values)
    return check("remove-tagged", "a removal by tag takes what was stored with it last, and nothing else") { trial in
      guard let level = trial.level as? any TaggedLevel<Level.Key, Level.Value> else { return }
      for (key, value) in zip(keys.prefix(2), values) { try await level.set(value, forKey: key, tags: ["a", "b"]) }
      guard let none = try await Self.ifSupported({ try await level.removeAll(tagged: "c") }) else { return }
      trial.expect("how many entries had a tag that nothing has", none, is: 0)
      try await level.set(values[1], forKey: keys[1], tags: ["c"])
      // Some levels cannot count them: those that make what has the tag invalid in one write.
      _ = try await level.removeAll(tagged: "b")
      try await trial.expectGet(keys[0], is: nil)
      try await trial.expectGet(keys[1], is: values[1])
    }
  }

  private static func ifSupported<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
    do { return try await ask() } catch let error as CacheError where error.isUnsupported { return nil }
  }
}
