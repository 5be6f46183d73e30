import CacheEngine
import CacheEngineInspector

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal

extension FuzzTarget {
  /// What comes over a socket, in pieces of uneven sizes.
  func wire(_ bytes: [UInt8]) {
    var reader = LineReader()
    var rest = bytes[...]
    var size = 1
    while !rest.isEmpty {
      guard let lines = try? reader.take(rest.prefix(size), limit: 1 << 16) else { return }
      rest = rest.dropFirst(size)
      size = size * 2 + 1
      for line in lines {
        _ = try? Wire.read(ClientLine.self, from: line)
        if let answer = try? Wire.read(ServerLine.self, from: line) { _ = Wire.bytes(answer) }
      }
    }
  }

  /// Every picture, forwards and back.
  func recording(_ bytes: [UInt8]) {
    guard let recording = try? Recording(bytes, file: "session.rec") else { return }
    var playback = Playback(recording)
    for picture in recording.pictures.indices.prefix(32) {
      playback.go(to: picture)
      _ = playback.canvas
    }
    playback.go(to: 0)
    _ = playback.pause
  }

  func configuration(_ text: String) {
    guard text.utf8.count <= 1 << 16 else { return }
    _ = try? ConfigurationReader.read(text, file: "cache.yaml", folder: "/tmp", memory: 1 << 30)
  }

  func command(_ text: String) {
    for line in text.split(separator: "\n").prefix(16) {
      _ = try? Verbs.parse(String(line))
      _ = EntryFilter(String(line))
      _ = try? Expectation(String(line))
    }
  }

  /// The same whatever pieces the bytes come in.
  func keyboard(_ bytes: [UInt8]) throws {
    var whole = KeyDecoder()
    var single = KeyDecoder()
    let all = whole.feed(bytes) + whole.giveUp()
    let one = bytes.flatMap { single.feed([$0]) } + single.giveUp()
    try expect(all == one, "keys depend on the pieces that they come in")
  }
}
