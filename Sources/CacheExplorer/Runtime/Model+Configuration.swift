import CacheEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Model {
  /// The model of a cache that was just built.
  init(_ configuration: CacheConfiguration, title: String, now: CacheInstant) {
    self.init(title: title, levels: configuration.levels.flatMap { Self.rows($0, isPooled: false) }, now: now)
    utcOffsetInSeconds = Int64(TimeZone.current.secondsFromGMT())
    if let level = LogLevel.allCases.first(where: { $0.name == configuration.logLevel }) { log.minimum = level }
  }

  private static func rows(_ level: LevelSpecification, isPooled: Bool) -> [LevelRow] {
    switch level.kind {
    case .around(.pooled, let inner): inner.flatMap { rows($0, isPooled: true) }
    case .around, .lanes, .stale: level.inner.flatMap { rows($0, isPooled: isPooled) }
    case .defaults: [row(level, "settings", isPooled)]
    case .memory(let memory):
      [row(level, "LRU \(Format.bytes(memory.capacity))", isPooled)]
    case .disk(let disk): [row(level, Format.bytes(disk.capacity), isPooled)]
    case .network: [row(level, "network", isPooled)]
    case .origin: [row(level, "simulated", isPooled)]
    }
  }

  private static func row(_ level: LevelSpecification, _ capacity: String, _ isPooled: Bool) -> LevelRow {
    LevelRow(
      name: level.name, kind: level.word, capacity: capacity, isOrigin: level.isSource, isPooled: isPooled)
  }
}
