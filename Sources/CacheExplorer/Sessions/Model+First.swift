import CacheEngine
import ExplorerCache
import ExplorerConfiguration
import ExplorerModel
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Model {
  /// The model of a cache that is to be built.
  ///
  /// `file`: Where the configuration was read.
  /// `isFile`: It can be read there again.
  init(
    _ configuration: CacheConfiguration, title: String, file: String = "", isFile: Bool = true, now: CacheInstant
  ) {
    self.init(Replacement(configuration, file: file, isFile: isFile), title: title, now: now)
    utcOffsetInSeconds = Int64(TimeZone.current.secondsFromGMT())
    if let level = LogLevel.allCases.first(where: { $0.name == configuration.logLevel }) { log.minimum = level }
  }

  fileprivate init(_ first: Replacement, title: String, now: CacheInstant) {
    self.init(title: title, levels: first.levels, operators: first.operators, chain: first.chain, now: now)
    config = first.config
  }
}

extension AttachedCache {
  /// The model of its first picture.
  var model: Model {
    var model = Model(replacement, title: title, now: live.clock.now)
    model.attachment = attachment
    return model
  }

  /// What is shown first; `nil` for the overview.
  var page: Page? {
    switch subject {
    case .server: .keyspace
    case .fleet: .fleet
    case nil: nil
    }
  }
}
