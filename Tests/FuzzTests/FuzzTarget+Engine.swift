import CacheEngine
import CacheEngineHitRatio
@testable import CacheEngineNetwork
import CacheEngineTransformers
import CacheEngineImages
import CacheEngineTesting
import Foundation

extension FuzzTarget {
  static let segmentName = "log-0000000000000001"

  /// A store of which one file is made up.
  func store(_ bytes: [UInt8], as name: String, cipher: PlainCipher? = nil) async throws {
    let folder = try ScratchFolder()
    if name != Self.segmentName {
      // The store that the made-up file belongs to: what it names is there.
      let seed = Self.segment.folder.appending(path: (cipher == nil ? "plain" : "sealed") + Self.suffix)
      try folder.write([UInt8](Data(contentsOf: seed)), to: Self.segmentName)
    }
    try folder.write(bytes, to: name)
    let path = folder.path
    if let inspection = try await attempt({ try await DiskCacheInspection.open(path, cipher: cipher) }) {
      _ = try await attempt { try await inspection.verify() }
      _ = try await attempt { try await inspection.health() }
    }
    let opened = try await attempt {
      try DiskCacheLevel<String, Data>(directory: path, capacity: 1 << 20, cipher: cipher)
    }
    guard let level = opened else { return }
    var keys: [String] = []
    _ = try await attempt { for try await entry in level.entries() { keys.append(entry.key) } }
    for key in keys.prefix(64) + ["a"] { _ = try await attempt { try await level.get(key) } }
    _ = try await attempt { try await level.removeAll(tagged: "tag") }
    _ = try await attempt { try await level.verify(repairing: true) }
    // Whatever was there, what is stored now is there afterwards, also for who opens the store anew.
    let isSet = try await attempt { try await level.set(Data([1, 2, 3]), forKey: "new") } != nil
    if isSet { try expect(try await level.get("new") == Data([1, 2, 3]), "a value is not there after its set") }
    _ = try await attempt { try await level.close() }
    guard isSet else { return }
    let again = try DiskCacheLevel<String, Data>(directory: path, capacity: 1 << 20, cipher: cipher)
    try expect(try await again.get("new") == Data([1, 2, 3]), "a value is not there after its store was opened anew")
    try await again.close()
  }

  func settings(_ bytes: [UInt8]) async throws {
    let folder = try ScratchFolder()
    try folder.write(bytes, to: "d.plist")
    let path = folder.path
    _ = try await attempt {
      let level = try UserDefaultsCacheLevel<String, Data>(
        domain: "d", directory: path, name: "settings", expiry: .never, durability: .buffered,
        keyCoding: .canonicalText, valueCoding: .data, clock: SystemClock(), calls: FileCalls())
      _ = try await level.get("a")
      try await level.set(Data([1]), forKey: "a")
      try expect(try await level.get("a") == Data([1]), "a setting is not there after its set")
    }
  }

  func snapshot(_ bytes: [UInt8]) async throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/s"
    let (clock, capacity) = (ManualClock(), 1 << 12)
    func level() -> MemoryCacheLevel<String, Data> {
      MemoryCacheLevel(
        capacity: capacity, countLimit: 64, keepsExpired: .seconds(1), timeToIdle: .seconds(60), clock: clock)
    }
    let (first, second) = (level(), level())
    try await first.set(Data([1]), forKey: "own")
    try folder.write(bytes, to: "s")
    let answer = try await attempt { try await first.restore(from: path, keys: .utf8, values: .data) }
    let restored = (answer ?? nil)?.restored ?? 0
    let usage = first.usage
    try expect(usage.count == restored + 1, "\(usage.count) entries are there after \(restored) were restored")
    try expect(usage.cost <= capacity && usage.count <= 64, "\(usage) is too much")
    try expect(first.peek("own") == Data([1]), "what was there has gone")
    // What came out of it can be written, and read as the same.
    try await first.snapshot(to: path, keys: .utf8, values: .data)
    let again = try await second.restore(from: path, keys: .utf8, values: .data)
    let alive = try await first.contents().count { first.contains($0.key) }
    try expect(again?.restored == alive, "\(alive) entries were written, and \(again?.restored ?? 0) read")
    for entry in try await second.contents() {
      try expect(first.peek(entry.key) == second.peek(entry.key), "a value is read as another")
    }
  }

  func propertyList(_ data: Data) async throws {
    let transformer = PropertyListTransformer<AnyList>()
    guard let list = try await attempt({ try await transformer.transform(data) }) else { return }
    try expect(list.depth <= 64, "a list is nested \(list.depth) deep")
  }

  func json(_ data: Data) async throws {
    _ = try await attempt { try await JSONTransformer<AnyList>().transform(data) }
    guard let value = try await attempt({ try await JSONValueTransformer().transform(data) }) else { return }
    let written = try await JSONValueTransformer().inverseTransform(value)
    try expect(
      try await JSONValueTransformer().transform(written) == value, "what was written is read as something else")
  }

  func image(_ data: Data) async throws {
    let limit = 1 << 16
    let image = try await attempt { try await ImageTransformer(maximumPixels: limit).transform(data) }
    guard let image else { return }
    try expect(image.width * image.height <= limit, "an image has \(image.width) × \(image.height) pixels")
    _ = image.resized(toFit: (width: 7, height: 7))
  }

  func unpack(_ data: Data, _ format: CompressionTransformer.Format) async throws {
    let transformer = CompressionTransformer(format, maximumSize: 1 << 18)
    guard let plain = try await attempt({ try await transformer.transform(data) }) else { return }
    try expect(plain.count <= 1 << 18, "\(plain.count) bytes came out")
    let packed = try await transformer.inverseTransform(plain)
    try expect(try await transformer.transform(packed) == plain, "what was packed is unpacked as something else")
  }

  /// Lines of a head, each as libcurl hands it on, for two requests.
  func http(_ bytes: [UInt8]) {
    let limits = HTTPLimits(bodyBytes: 1 << 20, headerBytes: 1 << 12, headerCount: 64, redirects: 2)
    guard let url = URL(string: "https://user:secret@host.example/path?query") else { return }
    for accepted in ["identity", "gzip, br;q=0.5"] {
      var request = TransportRequest(url: url, headers: [HTTPHeader("Accept-Encoding", accepted)], limits: limits)
      var head = HTTPHead(limits: limits)
      do throws(HTTPViolation) {
        for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false) where !head.isComplete {
          try head.append(line: line + [0x0a])
        }
        guard head.isComplete else { continue }
        try HTTPFraming(head, for: request).checkBody(bytes: bytes.count)
      } catch {}
      var redirect = HTTPRedirect()
      for _ in 0..<4 {
        let answer = TransportResponse(status: head.status, headers: head.headers)
        guard let next = try? redirect.next(after: answer, to: request) else { break }
        request = next
      }
    }
  }

  func address(_ text: String) throws {
    if let address = try? HTTPAddress(text: text) {
      let again = try HTTPAddress(text: address.text)
      try expect(again.origin == address.origin && again.text == address.text, "an address is read as another one")
      try expect(
        !address.text.contains("@") || address.path.contains("@") || address.query?.contains("@") == true,
        "credentials stay in an address")
    }
    if let template = try? NetworkTemplate("http://host.example/a/{+key}?x={key}"),
      let url = try? template.url(for: text)
    {
      let address = try HTTPAddress(url)
      try expect(
        address.origin == "http://host.example:80" && address.path.hasPrefix("/a/"), "a key leads to \(address.text)")
    }
    guard let template = try? NetworkTemplate(text), let url = try? template.url(for: "../x@y:z") else { return }
    _ = try HTTPAddress(url)
  }

  func trace(_ bytes: [UInt8]) throws {
    let folder = try ScratchFolder()
    for format in TraceFormat.allCases {
      try folder.write(bytes, to: "t.\(format.rawValue)")
      do {
        let trace = try RequestTrace(contentsOf: "\(folder.path)/t.\(format.rawValue)", format: format)
        // A line of these may stand for many.
        let most = [.arc, .csv].contains(format) ? 65_536 : 1
        try expect(trace.keys.count <= max(1, bytes.count) * 1_100 * most, "a trace has \(trace.keys.count) requests")
        _ = HitRatio.simulate(policy: .lru, capacity: 3, trace: trace)
      } catch is CacheError {}
    }
  }
}

/// Anything at all, in itself.
indirect enum AnyList: Codable, Sendable {
  case leaf
  case array([AnyList])
  case dictionary([String: AnyList])

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if let elements = try? single.decode([AnyList].self) {
      self = .array(elements)
    } else if let members = try? single.decode([String: AnyList].self) {
      self = .dictionary(members)
    } else {
      _ = (
        try? single.decode(String.self), try? single.decode(Int64.self), try? single.decode(Double.self),
        try? single.decode(Data.self), try? single.decode(Date.self)
      )
      self = .leaf
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .leaf: try container.encode(0)
    case .array(let elements): try container.encode(elements)
    case .dictionary(let members): try container.encode(members)
    }
  }

  var depth: Int {
    switch self {
    case .leaf: 0
    case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
    case .dictionary(let members): 1 + (members.values.map(\.depth).max() ?? 0)
    }
  }
}
