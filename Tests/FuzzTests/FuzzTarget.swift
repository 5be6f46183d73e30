import CacheEngineTransformers
import CacheEngine
import CacheEngineImages
import CacheEngineTesting
import Foundation
import Synchronization

@testable import CacheEngineInspector
@testable import ExplorerModel
@testable import ExplorerState

/// Every parser of bytes that somebody else may have written, with what must hold whatever they are.
///
/// `make fuzz` runs them on bytes that it makes up, the tests on those that are kept in the folder `Corpus`.
enum FuzzTarget: String, CaseIterable {
  case segment, checkpoint, keys, settings, snapshot
  case propertyList = "property-list"
  case json, image, gzip, zlib
  case http, address
  case fields, variants
  case requestHead = "request-head"
  case wire, recording, trace, configuration, command, keyboard, sharing, replies

  /// What ought to hold, and does not.
  struct Broken: Error, CustomStringConvertible {
    var description: String
  }

  #if CACHEENGINE_FUZZ
  /// Stores are read without regard to checksums, and their files bear this in their names.
  static let suffix = Checksum.isOff ? "-unsummed" : ""
  #else
  static let suffix = ""
  #endif

  /// Where the files are that it begins with.
  var folder: URL { URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(rawValue)") }

  func run(_ bytes: [UInt8]) async throws {
    switch self {
    case .segment: try await store(bytes, as: Self.segmentName)
    case .checkpoint: try await store(bytes, as: "index")
    case .keys: try await store(bytes, as: "keys", cipher: PlainCipher())
    case .settings: try await settings(bytes)
    case .snapshot: try await snapshot(bytes)
    case .propertyList: try await propertyList(Data(bytes))
    case .json: try await json(Data(bytes))
    case .image: try await image(Data(bytes))
    case .gzip: try await unpack(Data(bytes), .gzip)
    case .zlib: try await unpack(Data(bytes), .zlib)
    case .http: http(bytes)
    case .address: try address(String(decoding: bytes, as: UTF8.self))
    case .fields: try fields(String(decoding: bytes, as: UTF8.self))
    case .variants: try await variants(Data(bytes))
    case .requestHead: try requestHead(String(decoding: bytes, as: UTF8.self))
    case .wire: wire(bytes)
    case .recording: recording(bytes)
    case .trace: try trace(bytes)
    case .configuration: configuration(String(decoding: bytes, as: UTF8.self))
    case .command: command(String(decoding: bytes, as: UTF8.self))
    case .keyboard: try keyboard(bytes)
    case .sharing: try sharing(bytes)
    case .replies: try replies(bytes)
    }
  }

  func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    guard holds else { throw Broken(description: "\(self): \(what())") }
  }

  /// Runs something that answers, or fails with an error of ours: no other may get out.
  func attempt<Value>(_ body: () async throws -> Value) async throws -> Value? {
    do { return try await body() } catch is CacheError { return nil }
  }
}

/// A folder in memory that is gone in the end.
struct ScratchFolder: ~Copyable {
  let path: String

  private static let number = Atomic(0)

  init() throws {
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let number = Self.number.add(1, ordering: .relaxed).newValue
    path = "\(base)/cache-fuzz-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path).appending(path: name))
  }
}

/// Seals nothing, so that made-up bytes come through to who reads them.
struct PlainCipher: StoreCipher {
  struct Refused: Error {}

  let sealingKey = "k"
  let openingKeys: Set = ["k"]

  func seal(_ bytes: [UInt8], binding: [UInt8]) -> [UInt8] { [0x4b] + bytes }

  func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] {
    guard sealed.first == 0x4b else { throw Refused() }
    return Array(sealed.dropFirst())
  }

  func key(of sealed: [UInt8]) -> String? { sealed.first == 0x4b ? "k" : nil }

  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
    (0..<2).flatMap { part in
      unsafe withUnsafeBytes(of: Checksum.of(bytes, seed: UInt64(part)).littleEndian) { unsafe Array($0) }
    }
  }
}
