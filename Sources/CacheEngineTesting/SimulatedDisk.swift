package import CacheEngine
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder whose disk forgets what was not synced.
///
/// The calls of a store go to real files below `path`, and all that they change is noted; ``model(at:)`` says what the disk
/// has of it after so many changes, and ``lay(_:at:)`` makes the folder that a power cut leaves. Nothing waits for a
/// real disk.
///
/// ```swift
/// let disk = try SimulatedDisk(folder)
/// // … work on a store in `folder + "/store"` with `disk.calls` …
/// try SimulatedDisk.lay(disk.model(at: disk.moment).survivors(seed: 7), at: other)
/// ```
package final class SimulatedDisk: Sendable {
  private struct State {
    /// What the names stand for now, as paths below the root.
    var numbers: [String: Int]
    var count: Int
    var opened: [Int32: (number: Int, path: String)] = [:]
    var events: [DiskModel.Event] = []
    /// The new node of an event that made one.
    var made: [Int: (number: Int, isDirectory: Bool)] = [:]
    var syncs = 0

    mutating func note(_ change: DiskModel.Change, _ descriptor: Int32) {
      guard let number = opened[descriptor]?.number else { return }
      events.append(.change(number, change))
    }

    mutating func make(_ path: String, isDirectory: Bool) {
      let (parent, name) = DiskModel.split(path)
      guard let directory = numbers[parent] else { return }
      made[events.count] = (count, isDirectory)
      events.append(.change(directory, .link(name, count)))
      numbers[path] = count
      count += 1
    }
  }

  private let path: String
  private let initial: DiskModel
  private let failsSync: @Sendable (Int) -> Bool
  private let state: Mutex<State>

  /// Takes a folder that is there; what it holds is on the disk.
  ///
  /// - Parameters:
  ///   - path: An absolute path.
  ///   - survivors: What is in the folder, as ``lay(_:at:)`` left it.
  ///   - failsSync: Whether the wait for the disk with this number fails. What waited is lost then, and the system says so
  ///     once.
  package init(
    _ path: String, holding survivors: DiskModel.Survivors = [:],
    failsSync: @escaping @Sendable (Int) -> Bool = { _ in false }
  ) {
    self.path = path
    self.failsSync = failsSync
    var model = DiskModel()
    let numbers = model.take(survivors)
    initial = model
    state = Mutex(State(numbers: numbers, count: numbers.count))
  }

  /// How many changes and waits for the disk there were.
  package var moment: Int { state.withLock { $0.events.count } }

  /// What the disk has after so many changes and waits, and what may be lost.
  package func model(at moment: Int) -> DiskModel {
    var model = initial
    apply(0..<moment, to: &model)
    return model
  }

  /// Goes on from what the disk has at the beginning of a range of moments.
  package func apply(_ moments: Range<Int>, to model: inout DiskModel) {
    let (events, made) = state.withLock { ($0.events[moments], $0.made) }
    for (moment, event) in zip(moments, events) {
      if let node = made[moment] { model.makeNode(node.number, isDirectory: node.isDirectory) }
      model.apply(event)
    }
  }

  /// Makes a folder of what is left.
  package static func lay(_ survivors: DiskModel.Survivors, at path: String) throws {
    let options: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: options)
    for name in survivors.keys.sorted() {
      guard let bytes = survivors[name] else { continue }
      if let bytes {
        guard FileManager.default.createFile(atPath: path + "/" + name, contents: Data(bytes)) else {
          throw CocoaError(.fileWriteUnknown)
        }
      } else {
        try FileManager.default.createDirectory(
          atPath: path + "/" + name, withIntermediateDirectories: false, attributes: options)
      }
    }
  }

  /// What is in a folder and in those below it.
  package static func files(in path: String) throws -> DiskModel.Survivors {
    var files: DiskModel.Survivors = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let whole = path + "/" + name
      let kind = try FileManager.default.attributesOfItem(atPath: whole)[.type] as? FileAttributeType
      let isDirectory = kind == .typeDirectory
      files.updateValue(isDirectory ? nil : try Array(Data(contentsOf: URL(filePath: whole))), forKey: name)
    }
    return files
  }

  /// The path below the root; `nil` for what stands elsewhere.
  private func below(_ whole: String) -> String? {
    if whole == path { return "" }
    return whole.hasPrefix(path + "/") ? String(whole.dropFirst(path.count + 1)) : nil
  }

  private static func join(_ directory: String, _ name: String) -> String {
    directory.isEmpty ? name : directory + "/" + name
  }

  /// System calls on this disk.
  package var calls: FileCalls {
    let real = FileCalls()
    var calls = real
    calls.makeDirectory = { whole in
      self.state.withLock { state in
        let result = real.makeDirectory(whole)
        if result == 0, let path = self.below(whole) { state.make(path, isDirectory: true) }
        return result
      }
    }
    calls.open = { directory, name, flags in
      self.state.withLock { state in
        let descriptor = real.open(directory, name, flags)
        let path = directory == AT_FDCWD ? self.below(name) : state.opened[directory].map { Self.join($0.path, name) }
        guard descriptor >= 0, let path else { return descriptor }
        if state.numbers[path] == nil { state.make(path, isDirectory: false) }
        state.opened[descriptor] = state.numbers[path].map { ($0, path) }
        return descriptor
      }
    }
    calls.close = { descriptor in
      self.state.withLock { state in
        state.opened[descriptor] = nil
        return real.close(descriptor)
      }
    }
    unsafe calls.write = { descriptor, bytes, offset in
      self.state.withLock { state in
        let count = unsafe real.write(descriptor, bytes, offset)
        if count > 0 { unsafe state.note(.write(Array(bytes.prefix(count)), at: offset), descriptor) }
        return count
      }
    }
    calls.truncate = { descriptor, length in
      self.state.withLock { state in
        let result = real.truncate(descriptor, length)
        if result == 0 { state.note(.truncate(length), descriptor) }
        return result
      }
    }
    let noted = { (rename: @escaping @Sendable (Int32, String, String) -> Int32) in
      { @Sendable (directory: Int32, old: String, new: String) -> Int32 in
        self.state.withLock { state in
          let result = rename(directory, old, new)
          if result == 0, let path = state.opened[directory]?.path {
            state.note(.rename(old, new), directory)
            state.numbers[Self.join(path, new)] = state.numbers.removeValue(forKey: Self.join(path, old))
          }
          return result
        }
      }
    }
    calls.rename = noted(real.rename)
    calls.renameNew = noted(real.renameNew)
    calls.unlink = { directory, name in
      self.state.withLock { state in
        let result = real.unlink(directory, name)
        if result == 0, let path = state.opened[directory]?.path {
          state.note(.unlink(name), directory)
          state.numbers[Self.join(path, name)] = nil
        }
        return result
      }
    }
    calls.sync = { descriptor in
      self.state.withLock { state in
        guard let number = state.opened[descriptor]?.number else { return 0 }
        state.syncs += 1
        let isLost = self.failsSync(state.syncs)
        state.events.append(isLost ? .failedSync(number) : .sync(number))
        errno = EIO
        return isLost ? -1 : 0
      }
    }
    return calls
  }
}
