#if Combine || canImport(Combine)
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

/// One question has one answer, in whatever way it is asked.
///
/// Stacks of all operators, five storeys high, are drawn by lot, and a script of reads, writes, failures and time that passes.
/// Each way of asking has a stack of its own, so that what a read leaves behind is compared as well, and all are compared
/// with a plain model. A failure names its seed: `CACHEENGINE_SEED=n` runs that one alone, and `CACHEENGINE_TRIALS=n` runs
/// so many, from that seed or the first one on, in place of the few that a usual run has time for.
@Suite(.timeLimit(.minutes(30))) struct OneAnswerTests {
  @Test("reads, writes and reloads agree in all their forms, with each other and with a plain model")
  func agree() async throws {
    for seed in seeds {
      if let difference = try await difference(seed: seed) {
        Issue.record("seed \(seed): \(difference)")
        return
      }
    }
  }

  private var seeds: Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["CACHEENGINE_SEED"].flatMap(UInt64.init)
    let count = environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? (first == nil ? 150 : 1)
    return (first ?? 0)..<(first ?? 0) + count
  }

  private func difference(seed: UInt64) async throws -> String? {
    var lot = SeededGenerator(seed: seed)
    var switches = Shape.Switches()
    let mayShare = Bool.random(using: &lot)
    let shape = Shape(
      depth: 5, mayReadInBackground: !mayShare, mayShare: mayShare, switches: &switches, by: &lot)
    let plainWorld = PlainModel.World()
    var levels: [PlainModel] = []
    _ = PlainModel.make(shape, in: plainWorld, levels: &levels)
    var stacks: [(face: RealStack.Face, stack: RealStack)] = []
    for face in RealStack.Face.allCases { stacks.append((face, try await RealStack(shape))) }
    var story: [String] = []
    for _ in 0..<60 {
      let step = Step(
        nodes: levels.count, storesOnConditions: !shape.readsInBackground, switches: switches, by: &lot)
      story.append("\(step)")
      let expected = carryOut(step, on: levels, in: plainWorld)
      for (face, stack) in stacks {
        let outcome = try await carryOut(step, on: stack, face)
        try await stack.rest()
        let wanted = expected.map { $0.seen(by: face, of: step) }
        if outcome != wanted || stack.asked != plainWorld.asked || stack.counts != plainWorld.counts {
          return """
            \(face) gives \(outcome.map { "\($0)" } ?? "-") in place of \(wanted.map { "\($0)" } ?? "-"); asked \
            \(stack.asked) in place of \(plainWorld.asked); counted \(stack.counts) in place of \(plainWorld.counts)
            last failure: \(stack.lastFailure)
            \(shape)
            \(story.joined(separator: "\n"))
            """
        }
      }
    }
    for (_, stack) in stacks { try await stack.close() }
    return nil
  }

  @Test("a read that is cancelled before it begins answers nothing wrong, and changes no answer to others")
  func cancelled() async throws {
    for seed in seeds {
      if let difference = try await differenceAfterCancelling(seed: seed) {
        Issue.record("seed \(seed): \(difference)")
        return
      }
    }
  }

  /// One of two stacks is read by tasks that are cancelled as well.
  ///
  /// Sources do not change and do not fail, and all is written through the whole stack, so that what a read copies, or reads
  /// anew, is what others would be given in any case.
  private func differenceAfterCancelling(seed: UInt64) async throws -> String? {
    var lot = SeededGenerator(seed: seed)
    var switches = Shape.Switches()
    let shape = Shape(depth: 5, mayReadInBackground: false, mayShare: false, switches: &switches, by: &lot)
    let (disturbed, calm) = (try await RealStack(shape), try await RealStack(shape))
    for number in 0..<switches.sources {
      for key in Step.keys where Bool.random(using: &lot) {
        let value = Int.random(in: 50..<99, using: &lot)
        for stack in [disturbed, calm] { stack.set { $0.behaviours[number, default: [:]][key] = .value(value) } }
      }
    }
    let top = calm.nodes.count - 1
    var story: [String] = []
    for _ in 0..<60 {
      let key = Step.keys[Int.random(in: 0..<3, using: &lot)]
      let step: Step =
        switch Int.random(in: 0..<10, using: &lot) {
        case 0..<6: .read(node: top, key: key)
        case 6: .set(node: top, key: key, value: Int.random(in: 1..<50, using: &lot), lifetime: nil, tag: nil)
        case 7: .remove(node: top, key: key)
        default: .advance(seconds: Int.random(in: 0..<4, using: &lot))
        }
      guard let face = RealStack.Face.allCases.randomElement(using: &lot) else { continue }
      let node = disturbed.nodes[Int.random(in: 0...top, using: &lot)]
      let isWellEnded = await Task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        do { _ = try await node.read(face, key) } catch { return error is CancellationError || error is CacheError }
        return true
      }.value
      try await disturbed.rest()
      story.append("\(face) of \(key) cancelled; \(step)")
      let outcomes = [
        try await carryOut(step, on: disturbed, face)?.valueAlone, try await carryOut(step, on: calm, face)?.valueAlone,
      ]
      for stack in [disturbed, calm] { try await stack.rest() }
      if outcomes[0] != outcomes[1] || !isWellEnded {
        return "\(outcomes)\n\(shape)\n\(story.joined(separator: "\n"))"
      }
    }
    for stack in [disturbed, calm] { try await stack.close() }
    return nil
  }

  private func carryOut(_ step: Step, on stack: RealStack, _ face: RealStack.Face) async throws -> RealStack.Outcome? {
    do {
      switch step {
      case .read(let node, let key): return try await stack.nodes[node].read(face, key)
      case .readStale(let node, let key): return try await stack.nodes[node].readStale(face, key)
      case .set(let node, _, _, _, _), .store(let node, _, _, _), .remove(let node, _), .removeTagged(let node, _),
        .removeKey(let node, _), .clear(let node), .invalidate(let node, _), .update(let node, _, _), .warn(let node):
        return try await stack.nodes[node].write(face, step)
      case .reload(let node, let key): return try await stack.nodes[node].reload(face, key)
      case .advance(let seconds): stack.clock.advance(by: .seconds(seconds))
      case .source(let number, let key, let behaviour):
        stack.set { $0.behaviours[number, default: [:]][key] = behaviour }
      case .flaky(let number, let isDown):
        stack.set { if isDown { $0.down.insert(number) } else { $0.down.remove(number) } }
      }
      return nil
    } catch let error as CacheError {
      switch error.code {
      case .valueNotInCache: return .miss("")
      case .conditionNotSatisfied: return .miss("refused")
      default:
        stack.noteFailure(error)
        return .failed(error.code.rawValue)
      }
    }
  }

  private func carryOut(_ step: Step, on levels: [PlainModel], in world: PlainModel.World) -> PlainOutcome? {
    defer {
      while !world.refreshes.isEmpty { world.refreshes.removeFirst()() }
    }
    do throws(PlainModel.Fault) {
      switch step {
      case .read(let node, let key): return .answer(try levels[node].read(key, stale: false))
      case .readStale(let node, let key): return .answer(try levels[node].read(key, stale: true))
      case .set(let node, let key, let value, let lifetime, let tag):
        let until = lifetime.map { world.now + $0 }
        try levels[node].store(
          value, key,
          PlainModel.Terms(
            lifetime: until.map { .until($0) } ?? .usual, tags: tag.map { [$0] } ?? []), if: nil)
      case .store(let node, let key, let value, let condition):
        return .done(try levels[node].store(value, key, PlainModel.Terms(), if: condition))
      case .remove(let node, let key): try levels[node].remove(key)
      case .removeTagged(let node, let tag): return .counted(try levels[node].removeAll(tagged: tag))
      case .removeKey(let node, let key): return .counted(try levels[node].removeAll { $0 == key })
      case .invalidate(let node, let key): try levels[node].invalidate(key)
      case .reload(let node, let key): return .answer(try levels[node].reload(key))
      case .update(let node, let key, let addend):
        return .counted(
          try levels[node].update(key) { value in addend.map { (value ?? 0) + $0 } } ?? -1)
      case .warn(let node): levels[node].warn()
      case .clear(let node): try levels[node].clear()
      case .advance(let seconds):
        world.now += seconds
        return nil
      case .source(let number, let key, let behaviour):
        world.behaviours[number, default: [:]][key] = behaviour
        return nil
      case .flaky(let number, let isDown):
        if isDown { world.down.insert(number) } else { world.down.remove(number) }
        return nil
      }
      return .done(true)
    } catch {
      return .failed(error.code)
    }
  }
}

private enum PlainOutcome {
  case answer(PlainModel.Answer)
  case done(Bool)
  case counted(Int)
  case failed(String)

  /// As much of it as a way of asking can tell.
  func seen(by face: RealStack.Face, of step: Step) -> RealStack.Outcome {
    var tellsAll = face.tellsAll
    switch step {
    case .readStale, .reload: tellsAll = true
    default: break
    }
    switch self {
    case .done(let isDone): return .done(isDone)
    case .counted(let count): return .value(count)
    case .failed(let code): return .failed(code)
    case .answer(.hit(let found)):
      return tellsAll
        ? .entry(
          found.value, isStale: found.isStale, deadline: found.deadline, created: found.created, tags: found.tags,
          isPlaceholder: found.isPlaceholder) : .value(found.value)
    case .answer(.miss(let reason)):
      return .miss(tellsAll || (face.isRequiring && reason == "refused") ? reason : "")
    }
  }
}
#endif
