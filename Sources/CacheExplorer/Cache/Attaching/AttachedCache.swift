import CacheEngine
import CacheEngineTesting
package import ExplorerCommands
package import ExplorerState
package import ExplorerText

/// A cache that is shown and that another program made.
package struct AttachedCache: Sendable {
  /// What has a screen of its own.
  package enum Subject: Sendable { case server, fleet }

  package let live: LiveCache
  package let levels: [LevelRow]
  package let operators: [OperatorRow]
  package let chain: [ChainPart]
  package let attachment: Attachment
  /// What is at the left of the header.
  package let title: String
  /// What is at the head of the Config screen.
  package let source: String
  package let settings: [ConfigurationSetting]
  /// What is told first.
  package var notes: [String]
  /// What of it could not be reached.
  package var warnings: [String] = []
  /// Whose screen is shown first; `nil` for the overview.
  package var subject: Subject?
  /// Tells what becomes of it.
  package var follow: Follower.Follow = { _ in }
  /// Shows another one of several apps.
  package var choose: (@Sendable (Int) -> Void)?
  /// What `--json` prints, with these names in place of keys; `nil` for the statistics.
  package var report: (@Sendable (KeyMask?) -> JSONText)?
  /// Looks once more, and tells the model of a picture what no level tells.
  package var refresh: @Sendable () async -> [Message] = { [] }

  /// What a model keeps when the cache is reached, for the first time or again.
  package var replacement: Replacement {
    var config = ConfigSheet()
    (config.file, config.settings) = (source, settings)
    return Replacement(title: title, levels: levels, operators: operators, chain: chain, config: config)
  }
}

extension ConfigurationSetting {
  /// A line of the Config screen that stands in no file.
  package init(_ owner: String, _ field: String?, _ value: String) {
    self.init(depth: 0, owner: owner, field: field, value: value)
  }
}
