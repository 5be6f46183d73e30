import CacheEngine
package import ExplorerState
package import ExplorerText

/// A Redis server in figures, and what a listening for its commands brought.
package enum ServerPanel: Panel {
  package static let initial = 0

  package static func key(_ model: Model) -> String? { nil }

  package static func move(_ model: inout Model, by distance: Int) {
    guard let rect = Layout(model).panels[PanelID(Self.self)] else { return }
    let most = max(0, lines(model, width: rect.width - 4).count - max(0, rect.height - 2))
    model[Self.self] = min(max(0, model[Self.self] + max(-1_000_000, min(distance, 1_000_000))), most)
  }

  package static func inspect(_ model: inout Model) -> [Effect] { KeyspacePanel.inspect(&model) }

  package static func figures(_ model: Model) -> FigureTable {
    let server = model[KeyspacePanel.self].sheet?.server ?? KeyspaceSheet.Server()
    return FigureTable(
      "Server",
      [
        Figure(
          name: "memory", value: Format.bytes(server.usedBytes),
          definition: "what the server uses, of what it may use (maxmemory)", unit: "bytes", window: "now",
          source: "INFO: used_memory, maxmemory"),
        Figure(
          name: "hits", value: FigureTable.percent(server.hits, server.hits + server.misses),
          definition: "keys that were found ÷ keys that were read, of all clients and databases",
          unit: "percent of reads",
          window: "since the server started, and the last second", source: "INFO: keyspace_hits, keyspace_misses"),
        Figure(
          name: "evicted", value: Format.count(server.evicted),
          definition: "keys that went because room was needed", unit: "keys",
          window: "since the server started, and the last second", source: "INFO: evicted_keys"),
        Figure(
          name: "clients", value: Format.count(server.clients),
          definition: "connections; those that wait for a key, and those that are told of changes", unit: "connections",
          window: "now", source: "INFO: connected_clients, blocked_clients, tracking_clients"),
        Figure(
          name: "looked at", definition: "how many keys the table is made of, and how long that took",
          unit: "keys", window: "the last look", source: "SCAN"),
      ])
  }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let server = model[KeyspacePanel.self].sheet?.server
    let lines = lines(model, width: rect.width - 4)
    let rows = max(0, rect.height - 2)
    let top = min(model[Self.self], max(0, lines.count - rows))
    let more = top + rows < lines.count ? "↓ more · " : ""
    canvas.box(
      rect, title: "Server", right: DisplayText(server.map { "\(more)\($0.product) \($0.version)" } ?? ""),
      isFocused: frame.isFocused)
    for (row, line) in lines.dropFirst(top).prefix(rows).enumerated() {
      canvas.write(line, x: rect.x + 2, y: rect.y + 1 + row, limit: rect.width - 3)
    }
  }

  private static func lines(_ model: Model, width: Int) -> [[Span]] {
    guard let sheet = model[KeyspacePanel.self].sheet else { return [] }
    let (server, rates) = (sheet.server, sheet.rates)
    var lines: [[Span]] = []
    func add(_ name: String, _ text: String, _ style: Style = .plain) {
      for (number, line) in DisplayText(text).wrapped(to: max(8, width - 10)).enumerated() {
        lines.append([Span(DisplayText(number == 0 ? name : "").padded(to: 10), .faint), Span(line, style)])
      }
    }
    func rate(_ count: Double?) -> String { Format.perSecond(count) }
    if let problem = sheet.problem { add("problem", problem, .error) }
    add("address", "\(server.address) · \(server.role) · up \(FigureTable.span(server.uptime))")
    let share = server.mostBytes.map { " of \(Format.bytes($0)), \(Format.percent(server.usedBytes, of: $0))%" }
    let isFull = server.mostBytes.map { server.usedBytes >= $0 - $0 / 20 } ?? false
    add(
      "memory",
      "\(Format.bytes(server.usedBytes))\(share ?? ", no limit") · peak \(Format.bytes(server.peakBytes)) · \(server.policy)",
      isFull ? .warning : .plain)
    add(
      "hits",
      "\(FigureTable.percent(server.hits, server.hits + server.misses)) of \(Format.count(server.hits + server.misses))"
        + " · now \(rate(rates?.hits)) and \(rate(rates?.misses)) missed")
    add(
      "evicted", "\(Format.count(server.evicted)) · \(rate(rates?.evicted)) · expired \(Format.count(server.expired))",
      (rates?.evicted ?? 0) > 0 ? .warning : .plain)
    add(
      "clients",
      "\(Format.count(server.clients)) · \(Format.count(server.trackingClients)) told of changes · \(Format.count(server.blockedClients)) blocked"
    )
    add("commands", "\(rate(rates?.commands)) · \(Format.count(server.commands)) so far")
    add(
      "looked at",
      "\(Format.count(sheet.sample.keys)) of \(Format.counted(server.keys, "key"))"
        + " in \(Format.latency(nanoseconds: sheet.sample.took.clampedNanoseconds))")
    lines.append([])
    guard let traffic = sheet.traffic else {
      add("monitor", ":monitor 5s listens to every command for five seconds, which costs the server speed", .faint)
      return lines
    }
    add("monitor", traffic.sentence)
    for front in traffic.fronts {
      add(
        "",
        "memory of \(Format.count(front.entries)) in each client: \(FigureTable.percent(front.hits, traffic.reads))",
        .faint)
    }
    return lines
  }
}
