import CacheEngine
import ExplorerCache
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerText

/// The picture that the screen would show, as text.
enum OneFrame {
  /// - Throws: ``ProgramFailure`` if the screen that is asked for has nothing to show.
  static func text(
    _ opened: OpenedCache, _ buffer: EventBuffer, size: Size, _ appearance: ScreenOptions
  ) async throws -> String {
    guard let configuration = opened.configuration else { return "" }
    let model = Model(configuration, title: configuration.name, file: opened.file, now: opened.live.clock.now)
    return try await text(model, opened.live, buffer, size: size, appearance)
  }

  /// - Throws: ``ProgramFailure`` if the screen that is asked for has nothing to show.
  static func text(
    _ model: Model, _ live: LiveCache, _ buffer: EventBuffer, size: Size, _ appearance: ScreenOptions
  ) async throws -> String {
    var model = await told(model, live, buffer, size: size)
    appearance.apply(to: &model)
    if let page = appearance.page {
      if page == .whatIf {
        _ = update(&model, .whatIf(await Explorer.reports(live.whatIf), unseen: live.unseen()))
      }
      guard model.page == page else {
        let reason = model.command.answer?.text ?? "there is nothing to show"
        throw ProgramFailure(.usage, "error: --page \(page.word): \(reason)")
      }
    }
    return (appearance.ascii ? canvas(model).asciiLines : canvas(model).lines).joined(separator: "\n")
  }

  static func canvas(_ model: Model, _ live: LiveCache, _ buffer: EventBuffer, size: Size) async -> Canvas {
    canvas(await told(model, live, buffer, size: size))
  }

  private static func canvas(_ model: Model) -> Canvas {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    return canvas
  }

  /// A model that knows what happened, and what the levels hold.
  private static func told(_ model: Model, _ live: LiveCache, _ buffer: EventBuffer, size: Size) async -> Model {
    let batch = buffer.drain()
    var model = model
    model.live.advance(to: batch.events.first?.time ?? live.clock.now)
    model.size = size
    tell(batch, live.statistics.snapshot, &model)
    _ = update(
      &model,
      .log(
        LogLine.lines(
          for: batch.events, now: live.clock.now, wall: live.clock.timeSinceEpoch, first: batch.lost + 1,
          levels: live.levels),
        lost: batch.lost))
    for level in live.levels {
      guard let contents = try? await level.contents() else { continue }
      _ = update(&model, .snapshot(level: level.name, contents))
    }
    _ = update(&model, .usage(live.usage))
    _ = update(&model, .tick(live.clock.now, wall: live.clock.timeSinceEpoch))
    return model
  }

  /// Tells a model what happened second by second, and before that what was counted and is not told.
  private static func tell(_ batch: EventBuffer.Batch, _ counts: CacheStatistics.Snapshot, _ model: inout Model) {
    var seconds: [(events: [CacheEvent], counts: CacheStatistics.Snapshot)] = []
    let told = CacheStatistics()
    var rest = batch.events[...]
    while let first = rest.first {
      let second = rest.prefix { SecondRing.number(of: $0.time) == SecondRing.number(of: first.time) }
      let before = told.snapshot
      for event in second { told.record(event) }
      seconds.append((Array(second), told.snapshot.since(before)))
      rest = rest.dropFirst(second.count)
    }
    _ = update(&model, .events([], lost: batch.lost, counted: counts.since(told.snapshot)))
    for second in seconds {
      model.live.advance(to: second.events[0].time)
      _ = update(&model, .events(second.events, lost: 0, counted: second.counts))
    }
  }
}
