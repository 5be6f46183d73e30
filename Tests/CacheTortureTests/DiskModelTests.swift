#if Explorer
import CacheEngine
import Foundation
import Testing

@testable import CacheEngineTesting
@testable import CacheTorture

/// A disk that loses nothing finds nothing.
@Suite struct DiskModelTests {
  private let seeds: Range<UInt64> = 0..<400

  /// A file that is on the disk as zeros, in a directory that is there too.
  private func model(_ events: [DiskModel.Event], length: Int = 8_192) -> DiskModel {
    var model = DiskModel()
    _ = model.take(["file": [UInt8](repeating: 0, count: length)])
    for event in events { model.apply(event) }
    return model
  }

  private func write(_ byte: UInt8, _ count: Int, at offset: Int) -> DiskModel.Event {
    .change(1, .write([UInt8](repeating: byte, count: count), at: offset))
  }

  @Test("what was synced is there after every cut")
  func synced() {
    let model = model([write(1, 8_192, at: 0), .sync(1), write(2, 100, at: 4_096)])
    for seed in seeds { #expect(model.survivors(seed: seed)["file"]??.prefix(4_096).allSatisfy { $0 == 1 } == true) }
  }

  @Test("what was not synced is there, or not, or in parts, or late before early")
  func torn() {
    let model = model([write(1, 4_096, at: 0), write(2, 4_096, at: 4_096)])
    let left = Set(seeds.map { model.survivors(seed: $0)["file"] })
    #expect(left.contains([UInt8](repeating: 0, count: 8_192)))
    #expect(left.contains([UInt8](repeating: 1, count: 4_096) + [UInt8](repeating: 2, count: 4_096)))
    #expect(left.contains([UInt8](repeating: 0, count: 4_096) + [UInt8](repeating: 2, count: 4_096)))
    #expect(left.contains { bytes in (bytes??.prefix(4_096)).map { Set($0) == [0, 1] } == true })
  }

  @Test("a file grows without its bytes, and its bytes come without its length")
  func length() {
    let model = model([write(1, 4_096, at: 0)], length: 0)
    let left = Set(seeds.compactMap { model.survivors(seed: $0)["file"] ?? nil })
    #expect(left.contains([]))
    #expect(left.contains([UInt8](repeating: 0, count: 4_096)))
    #expect(left.contains { $0.count == 4_096 && $0.contains { $0 > 1 } }, "what another file left there")
  }

  @Test("what was cut off is still there until the file is synced")
  func truncate() {
    let cut = DiskModel.Event.change(1, .truncate(100))
    let lengths = { (events: [DiskModel.Event]) in
      Set(seeds.map { model(events).survivors(seed: $0)["file"]??.count })
    }
    #expect(lengths([cut]) == [100, 8_192])
    #expect(lengths([cut, .sync(1)]) == [100])
  }

  @Test("names are lost one by one until the directory is synced, which says nothing of the bytes")
  func names() {
    let made: [DiskModel.Event] = [
      .change(0, .link("new", 2)), .change(2, .write([7], at: 0)), .change(0, .rename("new", "better")),
      .change(0, .unlink("file")),
    ]
    func left(_ events: [DiskModel.Event]) -> Set<[String]> {
      var disk = DiskModel()
      _ = disk.take(["file": []])
      disk.makeNode(2, isDirectory: false)
      for event in events { disk.apply(event) }
      return Set(seeds.map { seed in disk.survivors(seed: seed).map { "\($0.key)\($0.value ?? [])" }.sorted() })
    }
    let lost = left(made)
    #expect(lost.isSuperset(of: [["file[]"], ["better[7]"], ["better[7]", "file[]"], ["file[]", "new[7]"], []]))
    let synced = left(made + [.sync(0)])
    #expect(synced.isSuperset(of: [["better[7]"], ["better[]"]]) && synced.allSatisfy { $0.count == 1 })
  }

  @Test("a failed sync is no sync, also when a later one of the same file succeeds")
  func failedSync() {
    let model = model([write(1, 4_096, at: 0), .failedSync(1), write(2, 4_096, at: 4_096), .sync(1)])
    let left = Set(seeds.map { model.survivors(seed: $0)["file"] })
    #expect(left.contains([UInt8](repeating: 0, count: 4_096) + [UInt8](repeating: 2, count: 4_096)))
    #expect(left.allSatisfy { $0??.suffix(4_096).allSatisfy { $0 == 2 } == true })
  }

  @Test("what a failed sync left behind does not come back from behind the place where the file was cut and synced")
  func cutAfterFailedSync() {
    let lost: [DiskModel.Event] = [write(1, 8_192, at: 0), .failedSync(1), .change(1, .truncate(5_000))]
    let lengths = { (events: [DiskModel.Event]) in
      Set(seeds.compactMap { (model(events, length: 0).survivors(seed: $0)["file"] ?? nil)?.count })
    }
    #expect(lengths(lost).isSuperset(of: [0, 5_000, 8_192]))
    #expect(lengths(lost + [.sync(1)]) == [5_000])
    let longer = model(lost + [.sync(1), write(2, 192, at: 8_000)], length: 0)
    let left = Set(seeds.map { longer.survivors(seed: $0)["file"] })
    #expect(left.contains { $0??.prefix(4_096).allSatisfy { $0 == 1 } == true }, "it may be there, up to the cut")
    #expect(left.allSatisfy { $0??.dropFirst(5_000).contains(1) == false })
  }

  @Test("the calls of a store are noted as they are made, and the folder can be made anew")
  func calls() async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    let disk = SimulatedDisk(folder)
    let job = Job.small(folder, .synced, isRoomy: true, disk.calls, tasks: 1)
    try await job.run(seed: 1, rounds: 2, recorder: Recorder())
    let whole = try SimulatedDisk.files(in: folder)
    #expect(whole.count > 3)
    let all = try #require(seeds.lazy.map { disk.model(at: disk.moment).survivors(seed: $0) }.first { $0 == whole })
    #expect(disk.model(at: 0).survivors(seed: 1).isEmpty)
    let copy = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(copy) }
    try SimulatedDisk.lay(all, at: copy)
    #expect(try SimulatedDisk.files(in: copy) == whole)
  }
}
#endif
