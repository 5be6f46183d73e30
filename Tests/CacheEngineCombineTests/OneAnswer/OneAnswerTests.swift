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
/// so many in place of the few that a usual run has time for.
@Suite(.timeLimit(.minutes(30))) struct OneAnswerTests {
  @Test("get, lookup, require, peek, erased, pooled and published reads agree with each other and with a plain model")
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
    if let seed = environment["CACHEENGINE_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
    return 0..<(environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? 150)
  }

  private func difference(seed: UInt64) async throws -> String? {
    var lot = SeededGenerator(seed: seed)
    var switches = Shape.Switches()
    let shape = Shape(depth: 5, switches: &switches, by: &lot)
    let plainWorld = PlainModel.World()
    var levels: [PlainModel] = []
    _ = PlainModel.make(shape, in: plainWorld, levels: &levels)
    let stacks = RealStack.Face.allCases.map { (face: $0, stack: RealStack(shape)) }
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
        if outcome != wanted || stack.asked != plainWorld.asked {
          return """
            \(face) gives \(outcome.map { "\($0)" } ?? "-") in place of \(wanted.map { "\($0)" } ?? "-"); asked \
            \(stack.asked) in place of \(plainWorld.asked)
            \(shape)
            \(story.joined(separator: "\n"))
            """
        }
      }
    }
    return nil
  }

  private func carryOut(_ step: Step, on stack: RealStack, _ face: RealStack.Face) async throws -> RealStack.Outcome? {
    do {
      switch step {
      case .read(let node, let key): return try await stack.nodes[node].read(face, key)
      case .readStale(let node, let key): return try await stack.nodes[node].readStale(face, key)
      case .set(let node, _, _, _, _), .store(let node, _, _, _), .remove(let node, _), .removeTagged(let node, _),
        .removeKey(let node, _), .clear(let node):
        return try await stack.nodes[node].write(face, step)
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
      default: return .failed(error.code.rawValue)
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
      case .removeTagged(let node, let tag): try levels[node].removeAll(tagged: tag)
      case .removeKey(let node, let key): try levels[node].removeAll { $0 == key }
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
  case failed(String)

  /// As much of it as a way of asking can tell.
  func seen(by face: RealStack.Face, of step: Step) -> RealStack.Outcome {
    var tellsAll = face.tellsAll
    if case .readStale = step { tellsAll = true }
    switch self {
    case .done(let isDone): return .done(isDone)
    case .failed(let code): return .failed(code)
    case .answer(.hit(let found)):
      return tellsAll
        ? .entry(found.value, isStale: found.isStale, deadline: found.deadline) : .value(found.value)
    case .answer(.miss(let reason)):
      return .miss(tellsAll || (face.isRequiring && reason == "refused") ? reason : "")
    }
  }
}
#endif
