import CacheEngine

/// The picture that the screen would show, as text.
enum OneFrame {
  static func text(_ opened: OpenedCache, _ buffer: EventBuffer, size: Size, isASCII: Bool) async -> String {
    guard let configuration = opened.configuration else { return "" }
    let model = Model(configuration, title: configuration.name, now: opened.live.clock.now)
    return await text(model, opened.live, buffer, size: size, isASCII: isASCII)
  }

  static func text(_ model: Model, _ live: LiveCache, _ buffer: EventBuffer, size: Size, isASCII: Bool) async -> String
  {
    let batch = buffer.drain()
    var model = model
    model.live.advance(to: batch.events.first?.time ?? live.clock.now)
    model.size = size
    _ = update(&model, .events(batch.events, lost: batch.lost))
    _ = update(
      &model,
      .log(
        LogLine.lines(for: batch.events, now: live.clock.now, wall: live.clock.timeSinceEpoch, first: batch.lost + 1),
        lost: batch.lost))
    for level in live.levels {
      guard let storage = level.storage, let contents = try? await storage.contents() else { continue }
      _ = update(&model, .snapshot(level: level.name, contents))
    }
    _ = update(&model, .usage(live.usage))
    _ = update(&model, .tick(live.clock.now, wall: live.clock.timeSinceEpoch))
    var canvas = Canvas(size)
    view(model, on: &canvas)
    return canvas.lines.map { line in
      guard isASCII else { return line }
      return ASCIIGlyphs.text(line)
    }.joined(separator: "\n")
  }
}
