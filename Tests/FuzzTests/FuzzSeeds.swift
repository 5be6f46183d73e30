import CacheEngine
import CacheEngineTransformers
import CacheEngineImages
import CacheEngineTesting
import Foundation

@testable import CacheEngineInspector
@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Files as they are really written, which fuzzing begins with.
enum FuzzSeeds {
  /// Writes the files of every target; what is there under other names stays.
  static func write() async throws {
    for (target, files) in try await all() {
      try FileManager.default.createDirectory(at: target.folder, withIntermediateDirectories: true)
      for (name, bytes) in files { try bytes.write(to: target.folder.appending(path: name)) }
    }
  }

  private static func all() async throws -> [FuzzTarget: [String: Data]] {
    let (plain, sealed) = (try await store(nil), try await store(PlainCipher()))
    let list: [String: [String]] = ["a": ["b", "c <&>"], "d": []]
    let json = Data(#"{"a": [1, -2.5e3, null, true, "\ud83d\udcbe \"x\""], "b": {"c": {}}}"#.utf8)
    let text = Data(repeating: 7, count: 300) + json
    let members = try await CompressionTransformer(.gzip).inverseTransform(json)
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func file(_ path: String) throws -> Data { try Data(contentsOf: root.appending(path: path)) }
    let (open, shut) = ("plain\(FuzzTarget.suffix)", "sealed\(FuzzTarget.suffix)")
    return [
      .segment: [open: plain[FuzzTarget.segmentName] ?? Data(), shut: sealed[FuzzTarget.segmentName] ?? Data()],
      .checkpoint: [open: plain["index"] ?? Data(), shut: sealed["index"] ?? Data()],
      .keys: [shut: sealed["keys"] ?? Data()],
      .settings: ["plain": try await settings()], .snapshot: [open: try await snapshot()],
      .propertyList: [
        "xml": try await PropertyListTransformer(format: .xml).inverseTransform(list),
        "binary": try await PropertyListTransformer(format: .binary).inverseTransform(list),
        "hidden": Data("<?xml version=\"1.0\"?><plist><array><!----><string><![CDATA[<]]>&#65;</string></array>".utf8),
      ],
      .json: ["text": json, "utf16": Data([0xff, 0xfe]) + Data(#"[{"a":1}]"#.utf8.flatMap { [$0, 0] })],
      .image: try await images(),
      .gzip: ["one": members, "two": members + members],
      .zlib: ["one": try await CompressionTransformer(.zlib).inverseTransform(text)],
      .http: [
        "whole": Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\n".utf8),
        "moved": Data("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 302\r\nlocation: //other.example:81/a\r\n\r\n".utf8),
        "chunked": Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n".utf8),
      ],
      .address: [
        "full": Data("https://user:p%40ss@host.example:8080/a/b?c=d#e".utf8), "six": Data("http://[::1]:80/".utf8),
        "template": Data("https://host.example/a/{+key}?x={key}".utf8),
      ],
      .fields: fields, .variants: ["two": try variants()], .requestHead: requestHeads,
      .wire: ["lines": Data(wireLines())],
      .recording: ["session": try recording()],
      .trace: [
        "text": Data("a\nb\t7\n\"c d\"\n".utf8),
        "u16": try file("Tests/CacheEngineHitRatioTests/Traces/web12.u16").prefix(64),
        "packed": try await CompressionTransformer(.gzip).inverseTransform(Data("a 1\nb 2\na 1\n".utf8)),
      ],
      .configuration: [
        "network": try file("Examples/memory-disk-network.yaml"),
        "origin": try file("Examples/memory-disk-origin.yaml"),
        "operators": try file("Examples/operators.yaml"), "photos": try file("Examples/ci/photos.yaml"),
      ],
      .command: [
        "script": try file("Examples/ci/photos.script"),
        "words": Data(
          "set a \"b c\" --ttl 5s\nexpect memory.hit >= 80%\nsize:>1k age:<5m level:disk\nrun zipf --rate max\n".utf8),
      ],
      .keyboard: ["keys": Data("a\u{1b}[A\u{1b}OP\u{1b}[<0;10;5M\u{1b}[200~x\u{e9}\u{1b}[201~\u{1b}[1;5C\u{1b}".utf8)],
      .sharing: try sharing(), .replies: replies,
    ]
  }

  private static let fields = [
    "control": "max-age=60, private=\"a, b\", no-cache\n s-maxage=\"5\",stale-while-revalidate=1, X=\\\"\nmax-age=-1",
    "dates": "Sun, 06 Nov 1994 08:49:37 GMT\nSunday, 06-Nov-94 08:49:37 GMT\nSun Nov  6 08:49:37 1994\n0",
    "tags": "\"a,b\", W/\"c\\\", *\nbytes=0-4\nbytes=-5\nbytes=7-",
    "names": "Accept, accept-language ,, X-A\n*\nno name",
    "places": "Example.COM:80\n/a/../b/%7Ec/./%2e%2E/?q#f\n//other/x\nhttp://[::1]:080/",
    "structured": "max-age=10, a;b=?1, c=(1 2), d=:aGk=:, e=\"x\"\nmax-age=1.5",
    // A quotation mark that is never closed, again and again.
    "open": String(repeating: "\\\"", count: 2_000),
  ].mapValues { Data($0.utf8) }

  private static let requestHeads = [
    "get": "GET /a/../b?c=%41 HTTP/1.1\nHost: example.com:80\nAccept: */*\nConnection: x-a, keep-alive\nX-A: 1",
    "post": "POST http://example.com/ HTTP/1.1\nHost: example.com\nContent-Length: 5\nExpect: 100-continue",
    "odd": "OPTIONS * HTTP/1.0\nHost: a\nHost: b\nTransfer-Encoding: chunked\nUpgrade: h2c\n X: y",
  ].mapValues { Data($0.utf8) }

  /// The files of a store of three entries, one of them with a tag, and one removed.
  private static func store(_ cipher: PlainCipher?) async throws -> [String: Data] {
    let folder = try ScratchFolder()
    let level = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 1 << 20, cipher: cipher)
    try await level.set(Data("one".utf8), forKey: "a")
    try await level.set(Data("two".utf8), forKey: "b", tags: ["tag"])
    try await level.set(Data(repeating: 7, count: 300), forKey: "c", expiry: .after(.seconds(1 << 30)))
    try await level.remove("a")
    try await level.close()
    return try folder.files()
  }

  private static func settings() async throws -> Data {
    let folder = try ScratchFolder()
    let level = try UserDefaultsCacheLevel<String, Data>(domain: "d", directory: folder.path)
    try await level.set(Data("one".utf8), forKey: "a")
    try await level.set(Data("two".utf8), forKey: "b c", expiry: .after(.seconds(1 << 30)))
    return try folder.files()["d.plist"] ?? Data()
  }

  /// What a memory level held: an entry for ever, one with a lifetime and tags, and one of no bytes.
  private static func snapshot() async throws -> Data {
    let folder = try ScratchFolder()
    let level = MemoryCacheLevel<String, Data>(clock: ManualClock())
    try await level.set(Data("one".utf8), forKey: "a")
    try await level.store(
      Data("two".utf8), forKey: "b", terms: StoreTerms(expiry: .after(.seconds(60)), cost: 7, tags: ["tag", "other"]))
    try await level.set(Data(), forKey: "")
    try await level.snapshot(to: folder.path + "/s", keys: .utf8, values: .data)
    return try folder.files()["s"] ?? Data()
  }

  private static func images() async throws -> [String: Data] {
    let image = PixelBuffer(width: 9, height: 5, bytes: (0..<180).map { UInt8(truncatingIfNeeded: $0 * 37) })
    let jpeg = try await ImageTransformer(encoding: .jpeg(quality: 60)).inverseTransform(image)
    // Exif of one tag: turned right.
    let tiff = "MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{6}\0\0\0\0\0\0"
    let exif = Data([0xff, 0xe1, 0, UInt8(8 + tiff.utf8.count)]) + Data("Exif\0\0\(tiff)".utf8)
    return [
      "png": try await ImageTransformer().inverseTransform(image), "jpeg": jpeg,
      "turned-jpeg": jpeg.prefix(2) + exif + jpeg.dropFirst(2),
    ]
  }

  private static func wireLines() -> [UInt8] {
    Wire.bytes(ClientLine(ask: ClientLine.Ask(.entries, level: "memory", key: "a")))
      + Wire.bytes(ServerLine(answer: ServerLine.Answer(id: 1, outcome: "hit")))
  }

  private static func recording() throws -> Data {
    let folder = try ScratchFolder()
    let path = "\(folder.path)/session.rec"
    var model = Model(title: "demo", levels: [], size: Size(width: 60, height: 16), now: CacheInstant(nanoseconds: 0))
    let recorder = try Recorder(path: path, model: model, isWhole: true)
    for message in [.caption("hello"), .filter("x"), .sort("ttl"), .help, .input(.key(.escape))] as [Message] {
      _ = update(&model, message, notedBy: recorder)
      var canvas = Canvas(model.size)
      view(model, on: &canvas)
      recorder.notePicture(canvas)
    }
    recorder.finish()
    return try folder.files()["session.rec"] ?? Data()
  }
}

extension ScratchFolder {
  func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: path).appending(path: $0))) })
  }
}
