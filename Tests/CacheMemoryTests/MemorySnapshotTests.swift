import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// What a level held, in a file.
@Suite struct MemorySnapshotTests {
  typealias Level = MemoryCacheLevel<String, Data>

  let clock = ManualClock()
  let folder = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(UUID().uuidString)")

  func level(capacity: Int = 1 << 20, timeToIdle: Duration? = nil, clock: ManualClock? = nil) -> Level {
    Level(capacity: capacity, timeToIdle: timeToIdle, clock: clock ?? self.clock)
  }

  func withFile(_ body: (String) async throws -> Void) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appending(path: "memory.snapshot").path)
  }

  private func filled() async throws -> Level {
    let level = level()
    try await level.set(Data("one".utf8), forKey: "a")
    try await level.set(Data("two".utf8), forKey: "ä", tags: ["x", "y"])
    try await level.store(
      Data(), forKey: "", terms: StoreTerms(expiry: .after(.seconds(60)), cost: 7))
    return level
  }

  @Test("everything is there again: values, costs, tags, ages and deadlines")
  func restores() async throws {
    try await withFile { path in
      let old = try await filled()
      clock.advance(by: .seconds(5))
      #expect(try await old.snapshot(to: path, keys: .utf8, values: .data) == 3)
      let new = level()
      #expect(try await new.restore(from: path, keys: .utf8, values: .data) == SnapshotRestoration(restored: 3))
      for key in ["a", "ä", ""] {
        let (before, after) = (try await old.lookup(key).entry, try await new.lookup(key).entry)
        #expect(after?.value == before?.value && after?.cost == before?.cost && after?.tags == before?.tags)
        #expect(after?.created == before?.created && after?.deadline == before?.deadline)
      }
      #expect(try await new.removeAll(tagged: "x") == 1)
    }
  }

  @Test("time goes on by the wall clock, whatever the clock of the new process shows; what has expired is not restored")
  func deadlines() async throws {
    try await withFile { path in
      let old = try await filled()
      try await old.set(Data(), forKey: "short", expiry: .after(.seconds(30)))
      try await old.set(Data(), forKey: "over", expiry: .after(.zero))
      #expect(try await old.snapshot(to: path, keys: .utf8, values: .data) == 4)
      let later = ManualClock(
        now: CacheInstant(nanoseconds: 77), timeSinceEpoch: clock.timeSinceEpoch + .seconds(30))
      let new = level(clock: later)
      #expect(
        try await new.restore(from: path, keys: .utf8, values: .data) == SnapshotRestoration(restored: 3, expired: 1))
      #expect(try await new.lookup("").entry?.deadline == later.now.advanced(by: .seconds(30)))
      #expect(try await new.lookup("a").entry?.created == later.now.advanced(by: .seconds(-30)))
      // A wall clock that was set back makes nothing live longer.
      let earlier = ManualClock(now: CacheInstant(nanoseconds: 77), timeSinceEpoch: .zero)
      let third = level(clock: earlier)
      try await third.restore(from: path, keys: .utf8, values: .data)
      #expect(try await third.lookup("").entry?.deadline == earlier.now.advanced(by: .seconds(60)))
    }
  }

  @Test("the time without reads begins anew, and is not taken for a lifetime")
  func idle() async throws {
    try await withFile { path in
      let old = level(timeToIdle: .seconds(10))
      try await old.set(Data(), forKey: "a")
      clock.advance(by: .seconds(9))
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let new = level()
      try await new.restore(from: path, keys: .utf8, values: .data)
      #expect(try await new.lookup("a").entry?.deadline == nil)
    }
  }

  @Test("what is held already stays, and nothing leaves for what is restored: the newest come first")
  func room() async throws {
    try await withFile { path in
      let old = level()
      for key in 0..<10 {
        try await old.set(Data(repeating: 1, count: 10), forKey: "\(key)")
        clock.advance(by: .seconds(1))
      }
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let new = level(capacity: 45)
      try await new.set(Data([9]), forKey: "9")
      let report = try await new.restore(from: path, keys: .utf8, values: .data)
      #expect(report == SnapshotRestoration(restored: 4, held: 1, left: 5))
      #expect(Set(try await new.contents().map(\.key)) == ["9", "8", "7", "6", "5"])
      #expect(new.peek("9") == Data([9]))
      #expect(new.counts.evicted == 0)
    }
  }

  @Test("a file that is cut anywhere, or of which any byte is another, is refused, and nothing changes")
  func damaged() async throws {
    try await withFile { path in
      let old = try await filled()
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      let new = level()
      try await new.set(Data([1]), forKey: "mine")
      func refused(_ bytes: [UInt8]) -> Bool {
        do {
          _ = try new.restore(bytes, keys: .utf8, values: .data)
          return false
        } catch let error as CacheError {
          return [.invalidCachedData, .unusableStore].contains(error.code)
        } catch {
          return false
        }
      }
      for length in bytes.indices where !refused(Array(bytes[..<length])) { Issue.record("\(length) bytes were read") }
      for place in bytes.indices {
        var other = bytes
        other[place] ^= 0x41
        if !refused(other) { Issue.record("byte \(place) may be another") }
      }
      #expect(refused(bytes + [0]))
      #expect(try await new.contents().map(\.key) == ["mine"])
      #expect(try new.restore(bytes, keys: .utf8, values: .data).restored == 3)
    }
  }

  @Test("made-up lengths with a right checksum are refused, and ask for no memory")
  func madeUp() throws {
    let file = SnapshotFile(
      written: 0, keyForm: "utf8", valueForm: "data",
      records: [
        SnapshotFile.Record(
          key: [0x61], value: NamedBytes(form: "data", bytes: Data([1])), tags: ["t"], cost: 1, age: 1, left: .max)
      ])
    let bytes = try file.bytes(limit: 1 << 20)
    #expect(try SnapshotFile(bytes) == file)
    var accepted = 0
    for place in 12..<bytes.count - 8 {
      for value: UInt8 in [0, 0x7f, 0x80, 0xff] {
        var body = Array(bytes.dropLast(8))
        body[place] = value
        var writer = ByteWriter(bytes: body)
        writer.put(Checksum.of(body, seed: 0))
        // Whatever is read fits into the bytes that there are.
        do { accepted += try SnapshotFile(writer.bytes).records.count } catch { #expect(error is CacheError) }
      }
    }
    #expect(accepted > 0)
  }

  @Test("what is no snapshot, of a newer version, or of other codings is told from what is damaged, and left alone")
  func foreign() async throws {
    try await withFile { path in
      let new = level()
      for text in ["", "no snapshot at all, but long enough to be one by its length alone"] {
        try Data(text.utf8).write(to: URL(filePath: path))
        await expect(.unusableStore) {
          _ = try await new.restore(from: path, keys: .utf8, values: .data)
        }
        #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == text)
      }
      try await filled().snapshot(to: path, keys: .utf8, values: .data)
      let other = MemoryCacheLevel<String, String>()
      await expect(.unusableStore) {
        _ = try await other.restore(from: path, keys: .utf8, values: .utf8)
      }
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      bytes[8] = 2
      await expect(.unusableStore) { _ = try new.restore(bytes, keys: .utf8, values: .data) }
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      await expect(.unusableStore) {
        _ = try await new.restore(from: path, keys: .utf8, values: .data)
      }
    }
  }

  @Test("a file that cannot be looked at is not taken for none")
  func unseen() async throws {
    try await withFile { path in
      let loop = path + ".loop"
      try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
      await expect(.diskReadFailed) {
        _ = try await level().restore(from: loop + "/memory.snapshot", keys: .utf8, values: .data)
      }
      #expect(try await level().restore(from: path + "/none/memory.snapshot", keys: .utf8, values: .data) == nil)
    }
  }

  @Test("a snapshot at a symbolic link is written and read there, and one that leads nowhere is no file")
  func link() async throws {
    try await withFile { path in
      let link = path + ".link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      let new = level()
      #expect(try await new.restore(from: link, keys: .utf8, values: .data) == nil)
      try await filled().snapshot(to: link, keys: .utf8, values: .data)
      #expect(try await new.restore(from: link, keys: .utf8, values: .data)?.restored == 3)
    }
  }

  @Test("a snapshot is for its owner alone, as the files of a disk level are")
  func permissions() async throws {
    try await withFile { path in
      for _ in 0..<2 {
        try await filled().snapshot(to: path, keys: .utf8, values: .data)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
      }
    }
  }

  @Test("what others can write, or what is no file, is not believed to be a snapshot, and nobody waits for it")
  func unbelieved() async throws {
    try await withFile { path in
      try await filled().snapshot(to: path, keys: .utf8, values: .data)
      for mode: mode_t in [0o620, 0o602] {
        #expect(unsafe chmod(path, mode) == 0)
        await expect(.unusableStore) { _ = try await level().restore(from: path, keys: .utf8, values: .data) }
      }
      #expect(unsafe chmod(path, 0o644) == 0)
      #expect(try await level().restore(from: path, keys: .utf8, values: .data)?.restored == 3)
      // Only the administrator can give files away.
      if geteuid() == 0 {
        #expect(unsafe chown(path, 4_711, 4_711) == 0)
        await expect(.unusableStore) { _ = try await level().restore(from: path, keys: .utf8, values: .data) }
      }
      let pipe = path + ".pipe"
      #expect(unsafe mkfifo(pipe, 0o600) == 0)
      for other in [pipe, folder.path] {
        await expect(.unusableStore) { _ = try await level().restore(from: other, keys: .utf8, values: .data) }
      }
    }
  }

  @Test("what was left by a process that was killed while it wrote is removed, and nothing else beside the file")
  func leftovers() async throws {
    try await withFile { path in
      try await filled().snapshot(to: path, keys: .utf8, values: .data)
      let (left, written) = ("\(path).\(UUID()).new", "\(path).\(UUID()).new")
      let others = ["\(path).1.new", "\(path).\(UUID())", "\(folder.path)/other.\(UUID()).new"]
      for name in [left, written] + others { try Data([1]).write(to: URL(filePath: name)) }
      // As by another process that has yet to lock its file, and by one that is writing just now.
      let made = "\(path).\(UUID()).new"
      try Data().write(to: URL(filePath: made))
      let descriptor = unsafe open(written, O_RDONLY)
      defer { _ = close(descriptor) }
      #expect(flock(descriptor, LOCK_EX) == 0)
      try await filled().snapshot(to: path, keys: .utf8, values: .data)
      #expect(!FileManager.default.fileExists(atPath: left))
      for name in [written, made] + others { #expect(FileManager.default.fileExists(atPath: name), "\(name)") }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 6)
      #expect(try await level().restore(from: path, keys: .utf8, values: .data)?.restored == 3)
    }
  }

  @Test("a snapshot while others write holds what was there at one moment, and can be read")
  func whileWriting() async throws {
    try await withFile { path in
      let level = MemoryCacheLevel<String, String>(clock: clock)
      // Two keys that are always written in this order: the second is never ahead.
      let isOver = Atomic(false)
      async let writer: Void = {
        var step = 0
        while !isOver.load(ordering: .relaxed) {
          step += 1
          level["a"] = "\(step)"
          level["b"] = "\(step)"
          if step % 100 == 0 { await Task.yield() }
        }
      }()
      for _ in 0..<20 {
        try await level.snapshot(to: path, keys: .utf8, values: .utf8)
        let new = MemoryCacheLevel<String, String>(clock: clock)
        try await new.restore(from: path, keys: .utf8, values: .utf8)
        let (first, second) = (new["a"].flatMap(Int.init) ?? 0, new["b"].flatMap(Int.init) ?? 0)
        #expect(first == second || first == second + 1)
      }
      isOver.store(true, ordering: .relaxed)
      await writer
    }
  }

  @Test("a value that its coding cannot read keeps everything out")
  func unreadable() async throws {
    try await withFile { path in
      let old = level()
      for key in 0..<5 { try await old.set(Data([UInt8(key)]), forKey: "\(key)") }
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let picky = ByteCoding<Data>(
        name: "data", encode: { $0 },
        decode: { bytes in
          if bytes == Data([3]) { throw CacheError(.invalidCachedData, "three") }
          return bytes
        })
      let new = level()
      await expect(.invalidCachedData) {
        _ = try await new.restore(from: path, keys: .utf8, values: picky)
      }
      #expect(new.usage.count == 0)
    }
  }

  @Test("no file is no error; one that is too large is not read, and one that would be is not written")
  func limits() async throws {
    try await withFile { path in
      let old = try await filled()
      #expect(try await old.restore(from: path, keys: .utf8, values: .data) == nil)
      try await old.snapshot(to: path, keys: .utf8, values: .data)
      let bytes = try Data(contentsOf: URL(filePath: path))
      await expect(.tooLarge) {
        _ = try await old.restore(from: path, keys: .utf8, values: .data, maximumBytes: bytes.count - 1)
      }
      try await old.set(Data(repeating: 0, count: 100), forKey: "b")
      await expect(.tooLarge) {
        try await old.snapshot(to: path, keys: .utf8, values: .data, maximumBytes: bytes.count)
      }
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
      let error = await #expect(throws: CacheError.self) {
        try await old.snapshot(to: path + "/x", keys: .utf8, values: .data)
      }
      #expect(error?.code == .diskWriteFailed)
      #expect(error?.message.hasPrefix("open: Not a directory: the snapshot \(path)/x ") == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["memory.snapshot"])
    }
  }
}

/// Expects an error of a kind.
private func expect(
  _ code: CacheError.Code, at place: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
  do {
    try await body()
    Issue.record("nothing was thrown", sourceLocation: place)
  } catch {
    #expect((error as? CacheError)?.code == code, sourceLocation: place)
  }
}
