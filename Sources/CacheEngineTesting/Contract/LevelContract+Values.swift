import CacheEngine

extension LevelContract {
  /// What is promised of reads alone.
  var readingChecks: [Check] {
    let (keys, values, capabilities) = (keys, values, capabilities)
    return [
      check("readers-agree", "get, lookup and peek give one answer; a peek may also say nothing") { trial in
        if !capabilities.contains(.readOnly) { try await trial.level.set(values[0], forKey: keys[0]) }
        for key in keys.prefix(2) {
          let value = try await trial.level.get(key)
          trial.expect("the lookup of \(key)", try await trial.level.lookup(key).entry?.value, is: value)
          trial.expect("the peek at \(key)", trial.level.peek(key), isOneOf: [value, nil])
        }
      },
      check("memory-warning", "a memory warning loses nothing durable, and the level goes on working") { trial in
        let isReadOnly = capabilities.contains(.readOnly)
        if !isReadOnly { try await trial.level.set(values[0], forKey: keys[0]) }
        let before = try await trial.level.get(keys[0])
        await trial.level.onMemoryWarning()
        let mayLose = !isReadOnly && !capabilities.contains(.durable)
        trial.expect("what is left", try await trial.level.get(keys[0]), isOneOf: mayLose ? [before, nil] : [before])
        guard !isReadOnly else { return }
        try await trial.level.set(values[1], forKey: keys[1])
        try await trial.expectGet(keys[1], is: values[1], ", set after the warning,")
      },
    ]
  }

  /// What is promised of a level that cannot be written.
  var readOnlyChecks: [Check] {
    let (keys, values) = (keys, values)
    return [
      check("stores-nothing", "writes succeed and change nothing") { trial in
        for key in keys.prefix(2) {
          let before = try await trial.level.get(key)
          try await trial.level.set(before == values[0] ? values[1] : values[0], forKey: key)
          try await trial.expectGet(key, is: before, " after a set")
          try await trial.level.remove(key)
          try await trial.expectGet(key, is: before, " after a removal")
          try await trial.level.clear()
          try await trial.expectGet(key, is: before, " after a clear")
        }
      },
      cancelledRead,
    ]
  }

  /// What is promised of single values.
  var valueChecks: [Check] {
    let (keys, values) = (keys, values)
    return [
      check("unknown-key", "a key that was never set is a miss") { trial in
        try await trial.expectGet(keys[0], is: nil)
        trial.expect("the peek", trial.level.peek(keys[0]), is: nil)
        let answer = try await trial.level.lookup(keys[0])
        trial.expect("the reason for the miss", answer.missReason, is: .absent)
      },
      check("set-then-get", "what was set is read") { trial in
        for value in values {
          try await trial.level.set(value, forKey: keys[0])
          try await trial.expectGet(keys[0], is: value)
        }
      },
      check("overwrite", "a set takes the place of the value before") { trial in
        for _ in 0..<3 {
          try await trial.level.set(values[0], forKey: keys[0])
          try await trial.level.set(values[1], forKey: keys[0])
          try await trial.expectGet(keys[0], is: values[1])
        }
      },
      check("store-at-once", "what is stored at once is read; where nothing is, nothing was done") { trial in
        try await trial.level.set(values[0], forKey: keys[0])
        let isStored = trial.level.storeAtOnce(values[1], forKey: keys[0], terms: StoreTerms())
        try await trial.expectGet(keys[0], is: isStored ? values[1] : values[0])
      },
      check("other-key", "a set changes no other key") { trial in
        try await trial.level.set(values[0], forKey: keys[0])
        try await trial.level.set(values[1], forKey: keys[1])
        try await trial.expectGet(keys[0], is: values[0])
        try await trial.expectGet(keys[1], is: values[1])
      },
      check("remove", "a removed key is a miss, and no other key is touched") { trial in
        try await trial.level.set(values[0], forKey: keys[0])
        try await trial.level.set(values[1], forKey: keys[1])
        try await trial.level.remove(keys[0])
        try await trial.expectGet(keys[0], is: nil)
        try await trial.expectGet(keys[1], is: values[1])
      },
      check("remove-absent", "removing an absent key succeeds and changes nothing") { trial in
        try await trial.level.remove(keys[0])
        try await trial.expectGet(keys[0], is: nil)
        try await trial.level.set(values[0], forKey: keys[0])
        try await trial.level.remove(keys[1])
        try await trial.expectGet(keys[0], is: values[0])
      },
      check("clear", "a clear leaves nothing, and the level goes on working") { trial in
        try await trial.level.clear()
        for (position, key) in keys.enumerated() { try await trial.level.set(value(position), forKey: key) }
        try await trial.level.clear()
        for key in keys { try await trial.expectGet(key, is: nil) }
        try await trial.level.set(values[0], forKey: keys[0])
        try await trial.expectGet(keys[0], is: values[0], ", set after the clear,")
      },
    ]
  }

  /// What is promised of keys.
  var keyChecks: [Check] {
    let (keys, values, equalKeys) = (keys, values, equalKeys)
    let isBounded = capabilities.contains(.bounded)
    return [
      check("keys-of-every-sort", "every key has its own value, whatever it looks like") { trial in
        for (position, key) in keys.enumerated() {
          try await trial.level.set(value(position), forKey: key)
          try await trial.expectGet(key, is: value(position))
        }
        for (position, key) in keys.enumerated() {
          let expected: [Level.Value?] = isBounded ? [value(position), nil] : [value(position)]
          trial.expect("the value of \(key)", try await trial.level.get(key), isOneOf: expected)
        }
      },
      check("unequal-keys", "unequal keys never meet") { trial in
        for key in keys {
          try await trial.level.clear()
          try await trial.level.set(values[0], forKey: key)
          for other in keys where other != key { try await trial.expectGet(other, is: nil, ", beside \(key),") }
        }
      },
      check("equal-keys", "equal keys are one key, however they are written") { trial in
        for (left, right) in equalKeys + equalKeys.map({ ($1, $0) }) {
          try await trial.level.set(values[0], forKey: left)
          try await trial.expectGet(right, is: values[0])
          try await trial.level.set(values[1], forKey: right)
          try await trial.expectGet(left, is: values[1])
          try await trial.level.remove(left)
          try await trial.expectGet(right, is: nil)
        }
      },
    ]
  }
}
