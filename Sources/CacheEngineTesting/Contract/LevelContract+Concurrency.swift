import CacheEngine

extension LevelContract {
  /// What is promised to many tasks at once, and to cancelled ones.
  var concurrencyChecks: [Check] { [oneKey, manyKeys, cancelledRead, cancelledWrite] }

  private var oneKey: Check {
    let (key, values) = (keys[0], values)
    return check("concurrent-one-key", "many tasks that write one key leave a value that one of them wrote") { trial in
      let level = trial.level
      let seen = try await withThrowingTaskGroup(of: [Level.Value?].self) { group in
        for task in 0..<100 {
          group.addTask {
            var seen: [Level.Value?] = []
            for _ in 0..<3 {
              try await level.set(values[task % values.count], forKey: key)
              // Lets the others come between, however few threads there are.
              await Task.yield()
              seen.append(try await level.get(key))
            }
            return seen
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      for value in seen { trial.expect("a read after a write", value, isOneOf: values) }
      trial.expect("the last value", try await level.get(key), isOneOf: values)
    }
  }

  private var manyKeys: Check {
    let keys = keys
    let isBounded = capabilities.contains(.bounded)
    return check("concurrent-many-keys", "many tasks that write many keys leave each key its own value") { trial in
      let level = trial.level
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<max(100, keys.count) {
          let position = task % keys.count
          group.addTask {
            try await level.set(value(position), forKey: keys[position])
            _ = try await level.get(keys[(position + 1) % keys.count])
          }
        }
        try await group.waitForAll()
      }
      for (position, key) in keys.enumerated() {
        let expected: [Level.Value?] = isBounded ? [value(position), nil] : [value(position)]
        trial.expect("the value of \(key)", try await level.get(key), isOneOf: expected)
      }
    }
  }

  var cancelledRead: Check {
    let (key, value, isReadOnly) = (keys[0], values[0], capabilities.contains(.readOnly))
    return check("cancelled-read", "a cancelled read gives the value or an error, and harms nobody") { trial in
      let level = trial.level
      if !isReadOnly { try await level.set(value, forKey: key) }
      let before = try await level.get(key)
      for yields in 0..<16 {
        let result = await cancelled(after: yields) { try await level.get(key) }
        if case .success(let seen) = result { trial.expect("a cancelled read", seen, is: before) }
        try await trial.expectGet(key, is: before, " after a cancelled read")
      }
    }
  }

  private var cancelledWrite: Check {
    let (key, values) = (keys[0], values)
    return check("cancelled-write", "a cancelled write leaves the value before or its own, and harms nobody") { trial in
      let level = trial.level
      for yields in 0..<16 {
        try await level.set(values[0], forKey: key)
        let result = await cancelled(after: yields) { try await level.set(values[1], forKey: key) }
        let left = try await level.get(key)
        if case .success = result {
          trial.expect("the value after a write that succeeded", left, is: values[1])
        } else {
          trial.expect("the value after a cancelled write", left, isOneOf: [values[0], values[1]])
        }
        try await level.set(values[0], forKey: key)
        try await trial.expectGet(key, is: values[0], ", set after a cancelled write,")
      }
    }
  }

  /// Runs an operation that is cancelled before it begins, or some steps later.
  private func cancelled<Answer: Sendable>(
    after yields: Int, _ operation: @escaping @Sendable () async throws -> Answer
  ) async -> Result<Answer, any Error> {
    let task = Task {
      if yields == 0 { while !Task.isCancelled { await Task.yield() } }
      return try await operation()
    }
    for _ in 0..<yields { await Task.yield() }
    task.cancel()
    return await task.result
  }
}
