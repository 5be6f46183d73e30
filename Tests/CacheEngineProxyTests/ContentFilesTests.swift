#if Proxy
import CacheEngineHTTP
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import CacheEngineProxy

@Suite("Contents that are sent from files", .timeLimit(.minutes(3)))
struct ContentFilesTests: ProxySuite {
  let log = ServedLog()

  private let files = ContentFiles()

  private func content(_ count: Int, _ byte: Int) -> Data { Data(repeating: UInt8(byte), count: count) }

  /// Sends a content as often as it takes to put it in a file.
  private func sendOften(_ content: Data) -> ContentFiles.Place? {
    for _ in 1..<ContentFiles.sendings where files.place(of: content) != nil { return nil }
    return files.place(of: content)
  }

  private func bytes(_ place: ContentFiles.Place) throws -> Data {
    let region = place.region
    return try region.fileHandle.withUnsafeFileDescriptor { descriptor in
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
      try file.seek(toOffset: UInt64(region.readerIndex))
      return try file.read(upToCount: region.readableBytes) ?? Data()
    }
  }

  @Test(
    "a content is put in a file when it is sent for the sixteenth time, if it is neither small nor large",
    arguments: [
      (0, false), (ContentFiles.least - 1, false), (ContentFiles.least, true), (ContentFiles.fileSize, true),
      (ContentFiles.fileSize + 1, false),
    ])
  func sizes(_ count: Int, _ isPut: Bool) throws {
    let content = content(count, 7)
    let place = sendOften(content)
    #expect((place != nil) == isPut)
    if let place { #expect(try bytes(place) == content) }
    #expect((files.place(of: content) != nil) == isPut)
  }

  @Test("the oldest leave, each place has the bytes of its content, and one that is being sent stays readable")
  func leave() throws {
    let count = ContentFiles.fileSize / 4
    let contents = (0..<ContentFiles.fileCount * 4 + 1).map { content(count, $0) }
    let places = try contents.map { try #require(sendOften($0)) }
    for (content, place) in zip(contents, places) { #expect(try bytes(place) == content) }
    for (number, content) in contents.enumerated() { #expect((files.place(of: content) != nil) == (number >= 4)) }
  }

  @Test("contents that are sent in turn are all put in files, as long as there is room for them")
  func inTurn() throws {
    let contents = (0..<ContentFiles.most / 2).map { content(ContentFiles.least, $0 % 251) }
    for number in 1...ContentFiles.sendings {
      for content in contents { #expect((files.place(of: content) != nil) == (number == ContentFiles.sendings)) }
    }
  }

  @Test("a content that is changed where it lies is another one")
  func changed() throws {
    var content = content(ContentFiles.least, 7)
    _ = try #require(sendOften(content))
    content[0] = 8
    let place = try #require(sendOften(content))
    #expect(try bytes(place) == content)
  }

  @Test("a content is sent to two clients at once")
  func two() throws {
    let content = content(ContentFiles.least, 7)
    let first = try #require(sendOften(content))
    let second = try #require(files.place(of: content))
    let sent = try first.region.fileHandle.withUnsafeFileDescriptor { _ in try bytes(second) }
    #expect(sent == content)
  }

  /// Whether the content of an answer that is given often is sent from a file.
  private func isSentFromFile(_ fields: HTTPHeaders, _ answers: InstantAnswers) throws -> Bool {
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(InstantAnswerHandler(answers, FieldBytes(), DueFlushes()))
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: fields)
    var isFile = false
    for _ in 0..<ContentFiles.sendings {
      try channel.writeInbound(HTTPServerRequestPart.head(head))
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
      channel.embeddedEventLoop.run()
      while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
        if case .body(.fileRegion) = part { isFile = true }
      }
    }
    return isFile
  }

  @Test("a part of a content is not put in a file, since it would keep the whole")
  func parts() async throws {
    let content = String(repeating: "a", count: 2 * ContentFiles.least)
    try await withProxy(origin: { _ in Self.fresh(content) }) { (port, proxy, _) async throws in
      _ = try await ask(port, get())
      let answers = InstantAnswers(
        cache: { proxy.cache.immediateAnswer(for: $0, at: $1, after: $2) }, origin: proxy.target,
        settings: ProxySettings(), note: log.note, due: DueFlushes.OfLoops(EmbeddedEventLoop()))
      #expect(try !isSentFromFile(["Host": "a", "Range": "bytes=0-40000"], answers))
      #expect(try isSentFromFile(["Host": "a"], answers))
      #expect(log.all.suffix(2 * ContentFiles.sendings).map(\.status).first == 206)
    }
  }

  @Test("answers are the same from a file, also for a client that takes its time, and after the content has changed")
  func answers() async throws {
    let version = Mutex(0)
    let contents = ["0", "1"].map { "<" + String(repeating: $0, count: 200 << 10) + ">" }
    // More than sockets hold.
    let count = 60
    let many = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: count - 1) + get()
    let answer: @Sendable (String) -> RawAnswer = { _ in Self.fresh(contents[version.withLock { $0 }]) }
    try await withProxy(origin: answer) { (port, _, origin) async throws in
      for (number, content) in contents.enumerated() {
        version.withLock { $0 = number }
        _ = try await ask(port, "DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        for _ in 1...2 {
          let taken = try await RawClient.askAndTakeNothing(port, many).takeAll()
          #expect(taken.components(separatedBy: content).count == count + 1)
        }
      }
      #expect(origin.requests.count { $0.hasPrefix("GET") } == 2)
    }
  }

  @Test(
    "what is answered at once is whole at every size, and as it was stored, also on a connection that carried chunks")
  func sizesAtOnce() async throws {
    let sizes = [0, 1, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, ContentFiles.least + 1]
    let answer: @Sendable (String) -> RawAnswer = { request in
      guard let size = Int(request.dropFirst("GET /".count).prefix { $0 != " " }) else {
        return RawAnswer(
          "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n<>\r\n0\r\n\r\n")
      }
      return Self.fresh(String(repeating: "a", count: size), "ETag: \"\(size)\"\r\nX-Name: \u{E9}\r\n")
    }
    try await withProxy(origin: answer) { (port, _, origin) async throws in
      for size in sizes { _ = try await ask(port, get("/\(size)")) }
      let inTurn = sizes.map { "GET /chunks HTTP/1.1\r\nHost: a\r\n\r\nGET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
      let answers = try await ask(port, inTurn.joined() + get("/chunks")).components(separatedBy: "HTTP/1.1 200 OK\r\n")
        .dropFirst()
      #expect(answers.count == 2 * sizes.count + 1)
      for (answer, size) in zip(answers.enumerated().filter { $0.offset % 2 == 1 }.map(\.element), sizes) {
        let parts = answer.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 2 && parts[1] == String(repeating: "a", count: size))
        let lines = parts[0].components(separatedBy: "\r\n")
        #expect(
          Set(lines).isSuperset(of: [
            "Content-Length: \(size)", "ETag: \"\(size)\"", "X-Name: \u{E9}", "Via: 1.1 cache-explorer",
          ]))
        #expect(lines.contains { $0.hasPrefix("Age: ") })
        #expect(lines.contains { $0.hasPrefix("Cache-Status: cache-explorer; hit") } && Set(lines).count == lines.count)
      }
      #expect(
        answers.enumerated().allSatisfy { $0.offset % 2 == 1 || $0.element.hasSuffix("\r\n\r\n2\r\n<>\r\n0\r\n\r\n") })
      #expect(origin.requests.count { !$0.contains("/chunks") } == sizes.count)
    }
  }
}
#endif
