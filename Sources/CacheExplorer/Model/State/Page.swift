/// The screens, by the digits that choose them.
package enum Page: Int, Sendable, CaseIterable, Codable {
  case overview = 1
  case entries, requests, latency, config, log, models, whatIf

  package var title: String {
    switch self {
    case .overview: "Overview"
    case .entries: "Entries"
    case .requests: "Requests"
    case .latency: "Latency"
    case .config: "Config"
    case .log: "Log"
    case .models: "Models"
    case .whatIf: "What if"
    }
  }

  /// What can have the focus on it, in the order of Tab.
  package var panels: [Panel] {
    switch self {
    case .overview: [.entries, .inFlight, .latency, .log, .levels]
    case .entries: [.entries]
    case .requests: [.requests]
    case .latency: [.latency]
    case .config: [.config]
    case .log: [.log]
    case .models: [.models, .relations]
    case .whatIf: [.whatIf]
    }
  }
}

/// The parts of the screen that can have the focus.
package enum Panel: Sendable, CaseIterable, Equatable {
  case entries, inFlight, latency, log, levels, requests, config, models, relations, whatIf
}
