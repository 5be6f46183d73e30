import CacheEngine
import CacheEngineTesting
import ExplorerCommands
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Shows the folder of a disk level, whether its program runs or not.
package enum AttachedDirectory {
  private static let whyReadOnly = "a folder is shown for reading only; attach to the app’s socket to change its cache"

  /// Reads the folder and checks every entry.
  ///
  /// - Throws: ``CacheError`` if there is no store, or none that can be read.
  package static func open(_ path: String, buffer: EventBuffer) async throws -> AttachedCache {
    let inspection: DiskCacheInspection
    do {
      inspection = try await DiskCacheInspection.open(path)
    } catch let error as CacheError where error.code == .wrongKey {
      inspection = try await DiskCacheInspection.openSealed(path)
    }
    let level = try await InspectedDirectory(inspection)
    let health = try await inspection.health()
    // A level that nothing was written to yet has its lock, and no index before it is closed.
    let hasLock = FileManager.default.fileExists(atPath: "\(path)/lock")
    guard hasLock || health.segments > 0 || health.allocatedBytes > 0 else {
      throw CacheError(
        .unusableStore,
        "\(path) holds no disk level and no socket; name the directory of a level, or start the app first")
    }
    let report = try await inspection.verify()
    let figures = RecentFigures()
    let clock = SystemClock()
    let observer = CacheObservers([figures, figures.statistics, buffer, TranscriptObserver()])
    let observed = level.normalize().observed(as: "disk", by: observer, clock: clock).normalize()
    let traced = observed.traced(by: observer, clock: clock).normalize()
    var live = LiveCache(
      cache: traced,
      levels: [
        LiveCache.Level(
          name: "disk", kind: "disk", level: traced, storage: level, isSource: false, faults: FaultInjector(), close: {}
        )
      ], operators: [], figures: figures, clock: clock, openedAt: clock.now)
    live.refusal = refusal
    let shown = live
    var row = LevelRow(name: "disk", kind: "disk", capacity: "folder")
    row.usage = level.usage
    let attachment = Attachment(
      label: inspection.isSealed ? "folder, encrypted" : "folder, read-only", whyReadOnly: whyReadOnly)
    var notes = ["\(path) holds \(health.entries) \(health.entries == 1 ? "entry" : "entries")"]
    if inspection.isSealed {
      notes.append(
        "names and values are encrypted and stay hidden; \(InspectedDirectory.howToSee)")
    }
    notes.append(told(report, inspection))
    return AttachedCache(
      live: shown, levels: [row], operators: [], chain: [.level(0)], attachment: attachment,
      title: folder(of: inspection).split(separator: "/").last.map(String.init) ?? path, source: path,
      settings: settings(inspection, health, report), notes: notes
    ) { follower in
      await follow(level, report, shown, follower.post)
    }
  }

  /// Its path as somebody would write it who does not know where this program was started.
  private static func folder(of inspection: DiskCacheInspection) -> String {
    URL(filePath: inspection.directory).standardizedFileURL.path
  }

  /// Looks once a second whether the owner has written.
  private static func follow(
    _ level: InspectedDirectory, _ report: StoreReport, _ live: LiveCache,
    _ post: @Sendable (Message) -> Void
  ) async {
    var complained: String?
    while !Task.isCancelled {
      do {
        if let health = try await level.refresh() {
          post(.settings(settings(level.inspection, health, report)))
          post(.usage(live.usage))
          if health.entries <= 100_000, let contents = try await live.level(named: "disk")?.contents() {
            post(.snapshot(level: "disk", contents))
          }
        }
        complained = nil
      } catch is CancellationError {
        return
      } catch {
        let text = String(describing: error)
        if text != complained {
          let line = LogLine(time: live.clock.timeSinceEpoch, level: .warning, source: "disk", text: text)
          post(.log([line], lost: 0))
        }
        complained = text
      }
      do { try await ContinuousClock().sleep(for: .seconds(1), tolerance: .milliseconds(200)) } catch { return }
    }
  }

  private static func refusal(of touched: Touched) -> String? {
    switch touched {
    case .nothing: nil
    case .configuration: "a folder has no configuration; open one with cache-explorer open"
    case .clock: "the clock of a folder is the system’s and cannot be set"
    case .contents, .faults, .requests: whyReadOnly
    }
  }

  private static func told(_ report: StoreReport, _ inspection: DiskCacheInspection) -> String {
    guard !report.isSound || report.damagedCount > 0 else {
      if inspection.isSealed {
        return "every entry is whole as far as checksums tell; only the key can tell of forged ones"
      }
      return "every entry is as it was written"
    }
    let first = report.damaged.first.map { "; the first is \($0.key) in \($0.file): \($0.reason)" } ?? ""
    return "\(report.damagedCount) of \(report.entries) entries cannot be read back\(first)"
  }

  private static func settings(
    _ inspection: DiskCacheInspection, _ health: DiskCacheInspection.Health, _ report: StoreReport
  ) -> [ConfigurationSetting] {
    var settings = [
      ConfigurationSetting("folder", nil, folder(of: inspection)),
      ConfigurationSetting("folder", "encrypted", inspection.isSealed ? "yes, and no key is here" : "no"),
      ConfigurationSetting("folder", "entries", "\(health.entries)"),
      ConfigurationSetting("folder", "live", Format.bytes(health.liveBytes)),
      ConfigurationSetting("folder", "on disk", Format.bytes(health.allocatedBytes)),
      ConfigurationSetting("folder", "segments", "\(health.segments)"),
      ConfigurationSetting("folder", "damaged", "\(health.damaged) stretches of the log"),
      ConfigurationSetting("verified", nil, told(report, inspection)),
    ]
    if report.strayCount > 0 {
      settings.append(ConfigurationSetting("verified", "strays", report.strays.prefix(3).joined(separator: ", ")))
    }
    for damage in report.damaged.prefix(20) {
      settings.append(ConfigurationSetting("verified", damage.file, "\(damage.key): \(damage.reason)"))
    }
    return settings
  }
}
