package import CacheEngine
package import CacheEngineHitRatio
package import ExplorerCommands

/// Everything that can happen to the screen's model.
package enum Message: Sendable, Codable {
  case input(InputEvent)
  /// Time passed: now by the cache's clock, and the time of day since 1970-01-01 00:00 UTC.
  case tick(CacheInstant, wall: Duration)
  /// What happened in the cache, in order; `lost` events before these never came.
  ///
  /// `counted`: What the engine counted since the last ones, the lost ones included; `nil` where nobody did, as in recordings
  /// of older programs.
  case events([CacheEvent], lost: Int, counted: CacheStatistics.Snapshot? = nil)
  case log([LogLine], lost: Int)
  /// The least severe lines to show, as the command `log` sets it.
  case showLog(from: LogLevel)
  /// What a demonstration says to look at.
  case caption(String)
  /// Which keys to list, as the command `filter` sets it.
  case filter(String)
  /// The column to list by, as the command `sort` names it.
  case sort(String)
  /// What the last command did can be taken back exactly; `nil` if it cannot.
  case undoable(String?)
  /// The cache's time passes so fast.
  case speed(Double)
  /// The Config screen was asked for by a command.
  case showConfig
  /// So many entries of levels are not listed, by the levels' names.
  case unlisted([String: Int])
  /// Entries of a level that is not listed, which were looked for.
  case found(level: String, [ListedEntry])
  /// What goes wrong in levels on purpose, by name.
  case faults([String: String])
  /// How full levels are, by name.
  case usage([String: LevelUsage])
  /// How it stands with the stores under shared levels, by the levels' names.
  case shared([String: SharedStatus])
  /// Who serves the files of levels that processes share, by the levels' names.
  case owners([String: String])
  /// Everything that a level holds.
  case snapshot(level: String, [ListedEntry])
  /// A command was carried out; `line` as it was typed.
  case finished(CommandResult, line: String? = nil)
  /// What a file's name that begins so can go on as.
  case files(beginning: String, [String])
  /// A typed line was not understood; `column` counts characters from 0.
  case rejected(line: String, reason: String, column: Int?)
  /// Help was asked for by a command.
  case help
  /// How a verb is used was asked for by a command.
  case helpAbout(verb: String)
  /// A value that was asked for.
  case value(ValueSight)
  /// The configuration was read again.
  case planned(ConfigSheet.Plan)
  /// Another configuration is in force.
  case replaced(Replacement)
  /// How it stands with the program that the cache belongs to.
  case attachment(Attachment)
  /// The program that the cache belongs to was gone and is there again: everything is counted from zero.
  case attachedAgain(Attachment, Replacement)
  /// What the Config screen shows, where it changes by itself.
  case settings([ConfigurationSetting])
  /// What other capacities and policies would have brought.
  ///
  /// `unseen`: So many events never came to where that is estimated.
  case whatIf([HitRatioReport], unseen: Int = 0)
  /// The What if screen was asked for by a command.
  case showWhatIf
  /// A workload of this name runs; `nil` if none does any more.
  case workload(String?)
  /// What models there are.
  case models(ModelSheet.Content)
  /// What clients asked the proxy since the last time, and all counts; `lost` requests before these never came.
  case served([ServedExchange], ServedCounts, lost: Int)
  /// What is stored for an address.
  case variants(key: String, [ServedVariant])
  /// How a Redis server does that is looked at.
  case keyspace(KeyspaceSheet)
  /// How several apps do that are looked at side by side.
  case fleet(FleetSheet)
  /// How the recording of the session does; `nil` if it is recorded no longer.
  case recording(RecordingStatus?)
}

extension Message {
  /// It tells what happens in the cache by itself, and is no answer to anybody.
  package var isNews: Bool {
    switch self {
    case .tick, .events, .log, .usage, .shared, .snapshot, .unlisted, .served: true
    default: false
    }
  }
}

/// What a model keeps of another configuration that is in force now.
package struct Replacement: Sendable, Codable {
  package var title: String
  package var levels: [LevelRow]
  package var operators: [OperatorRow]
  package var chain: [ChainPart]
  package var config: ConfigSheet

  package init(title: String, levels: [LevelRow], operators: [OperatorRow], chain: [ChainPart], config: ConfigSheet) {
    self.title = title
    self.levels = levels
    self.operators = operators
    self.chain = chain
    self.config = config
  }
}
