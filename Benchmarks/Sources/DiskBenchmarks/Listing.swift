import CacheEngine
import Foundation

/// A million entries, listed page by page: the time for each, and what memory that takes beside the store's own.
struct Listing {
  let settings: Settings

  func tables() async throws -> [Table] {
    try await settings.inFolder { folder in
      let count = settings.isQuick ? 100_000 : 1_000_000
      let value = Workload.value(16)
      var engine = try Engine(folder + "/store", capacity: 2 << 30)
      do {
        let filled = engine
        _ = try await Workload.time(count, tasks: 64) { try await filled.set(value, "user:profile:\($0)") }
      }
      var times: [Row] = []
      var memory: [Row] = []
      for name in ["while open", "after a restart"] {
        if name != "while open" {
          try await engine.close()
          engine = try Engine(folder + "/store", capacity: 2 << 30)
        }
        let before = residentBytes()
        var most = before
        var met = 0
        let time = try await Workload.time(count) {
          for try await entry in engine.level.entries() {
            met += 1
            if entry.size != value.count { throw Failure("an entry of another size") }
            if met % 50_000 == 0 { most = max(most, residentBytes()) }
          }
        }
        guard met == count else { throw Failure("\(met) entries in place of \(count)") }
        times.append(Row(name: name, samples: [time / 1_000]))
        memory.append(Row(name: name, samples: [Double(most - before) / Double(1 << 20)]))
      }
      try await engine.close()
      return [
        Table(title: "listing \(count) entries with all that is known of them", unit: "us/entry", rows: times),
        Table(title: "memory that this takes beside the store's own", unit: "MiB", rows: memory),
      ]
    }
  }
}
