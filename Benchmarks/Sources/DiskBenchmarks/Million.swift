import CacheEngine
import Foundation

/// What a million entries take in memory, and how long it takes to open them.
struct Million {
  let settings: Settings

  func tables() async throws -> [Table] {
    try await settings.inFolder { folder in
      let count = settings.isQuick ? 100_000 : 1_000_000
      do {
        let engine = try Engine(folder + "/store", capacity: 2 << 30)
        let value = Workload.value(64)
        _ = try await Workload.time(count, tasks: 2) {
          try await engine.set(value, "user:profile:" + String(1_000_000_000_000 + $0).dropFirst())
        }
        try await engine.close()
      }
      var times = Row(name: "from a checkpoint", samples: [])
      var work = Row(name: "the same, processor time", samples: [])
      var memory = Row(name: "an entry, its key of 25 bytes included", samples: [])
      for _ in 0..<3 {
        #if os(Linux)
        // What others let go of would be used again, and not be seen.
        if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0) }
        #endif
        let before = residentBytes()
        var opened: Engine?
        let opening = try await Workload.timeAndWork(1) {
          opened = try Engine(folder + "/store", capacity: 2 << 30)
        }
        times.samples.append(opening.time / 1_000_000)
        work.samples.append(opening.work / 1_000_000)
        memory.samples.append(Double(residentBytes() - before) / Double(count))
        guard opened?.level.usage.count == count else { throw Failure("entries are missing") }
        try await opened?.close()
      }
      return [
        Table(title: "opening \(count) entries, warm", unit: "ms", rows: [times, work]),
        Table(title: "resident memory of \(count) entries after opening", unit: "bytes", rows: [memory]),
      ]
    }
  }
}

/// What this process has in memory now.
func residentBytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  let words = text.split(separator: " ")
  return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
}
