import Foundation
import Testing

/// What the folders of a target know of each other.
///
/// Between targets the compiler sees to it that arrows point down; within one these lists do. A new folder takes its place in
/// its list: above all that it uses, below all that use it.
struct FolderTests {
  /// The folders of a target, from the ground up.
  struct Room: Sendable, CustomTestStringConvertible {
    var path: String
    var folders: [String]

    var testDescription: String { path }
  }

  static let rooms = [
    Room(
      path: "Sources/CacheEngine/Core",
      folders: [
        "Slots", "Levels", "Bytes", "Hashing", "Transform", "Coordination", "Observation", "Pressure", "Composition",
        "Freshness",
        "Resilience",
      ]),
    Room(path: "Sources/CacheEngine/Memory", folders: ["Table", "Eviction"]),
    Room(path: "Sources/CacheEngine/Disk", folders: ["Store", "Sharing", "Settings"]),
    Room(path: "Sources/CacheEngine/Network", folders: ["HTTP"]),
    Room(path: "Sources/CacheEngine/HitRatio", folders: ["Simulation", "Estimation"]),
    Room(path: "Sources/CacheEngineHTTP", folders: ["Fields", "Policy", "Storing", "Cache"]),
    Room(path: "Sources/CacheEngineImages", folders: ["Pixels", "Codec"]),
    Room(path: "Sources/CacheEngineInspector", folders: ["Wire", "Socket", "Events", "Server", "Client"]),
    Room(path: "Sources/CacheExplorer/Text", folders: []),
    Room(path: "Sources/CacheExplorer/Commands", folders: []),
    Room(path: "Sources/CacheExplorer/State", folders: ["Picture", "Messages", "Coding"]),
    Room(path: "Sources/CacheExplorer/Configuration", folders: []),
    Room(path: "Sources/CacheExplorer/Model", folders: ["Keys", "Drawing", "Screens", "View", "Update"]),
    Room(path: "Sources/CacheExplorer/Terminal", folders: []),
    Room(
      path: "Sources/CacheExplorer/Cache",
      folders: ["Live", "Workload", "Building", "Attaching", "Serving", "Verbs", "Demos"]),
    Room(
      path: "Sources/CacheExplorer",
      folders: [
        "Text", "Commands", "State", "Configuration", "Model", "Cache", "Terminal", "Process", "Recording", "Curves",
        "Comparing", "Interactive", "Sessions", "Subcommands",
      ]),
  ]

  @Test("No folder of a target knows one above it", arguments: rooms)
  func arrows(room: Room) throws {
    let sources = try Sources(room.path)
    #expect(
      Set(sources.files.map(\.folder)).subtracting([""]) == Set(room.folders), "a folder has no place in the list")
    for file in sources.files {
      // What lies beside the folders stands above them all.
      let height = room.folders.firstIndex(of: file.folder) ?? room.folders.count
      for name in file.words.sorted() {
        guard let owner = sources.owner(of: name), let place = room.folders.firstIndex(of: owner) else { continue }
        #expect(place <= height, "\(file.path) knows \(name) of \(owner), which is above \(file.folder)")
      }
    }
  }

  @Test("What a folder above declares is seen where it is named, and homonyms are not")
  func sight() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "rooms-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = [
      "Low/a.swift": "struct Low { var high: High }\n// Other is only talked about\nstruct Mine { enum Same {} }",
      "High/b.swift": "package final class High {}\nenum Other {}\nenum Same {}\nlet text = \"Low\"",
    ]
    for (path, text) in files {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let sources = try Sources(folder)
    let low = try #require(sources.files.first { $0.folder == "Low" })
    #expect(low.words.filter { sources.owner(of: $0) == "High" } == ["High"])
    let high = try #require(sources.files.first { $0.folder == "High" })
    #expect(high.words.filter { sources.owner(of: $0) == "Low" }.isEmpty)
  }
}

/// Who names which types; by names alone, which is enough for types that only one folder declares.
private struct Sources {
  struct File {
    var path: String
    /// The folder of the target that it lies in; empty for what lies beside the folders.
    var folder: String
    /// The types that it names and no file of its folder declares.
    var words: Set<String>
  }

  private(set) var files: [File] = []
  private var owners: [String: Set<String>] = [:]

  init(_ path: String) throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    try self.init(package.appending(path: path))
  }

  init(_ folder: URL) throws {
    var declared: [String: Set<String>] = [:]
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    for path in paths.sorted() where path.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        // A trait may be called as a type is.
        .replacing(/\/\/[^\n]*|"[^"\\\n]*"|#(?:else)?if [^\n]*/, with: "")
      let home = path.contains("/") ? String(path.prefix { $0 != "/" }) : ""
      let kinds = /\b(?:struct|class|enum|protocol|actor|typealias) (?<name>[A-Z]\w*)/
      for match in text.matches(of: kinds) { declared[home, default: []].insert(String(match.name)) }
      let generic = /\b(?:struct|class|enum|actor|func|init|subscript|typealias)\b[^<({\n]*<(?<names>[^>(]*)>/
      for match in text.matches(of: generic) {
        for name in match.names.split(separator: ",") {
          declared[home, default: []].insert(name.drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber }.description)
        }
      }
      for match in text.matches(of: /(?m)^[a-z@].*/).compactMap({ $0.output.firstMatch(of: kinds) }) {
        owners[String(match.name), default: []].insert(home)
      }
      let words = Set(text.matches(of: /\b[A-Z]\w*/).map { String($0.output) })
      files.append(File(path: path, folder: home, words: words))
    }
    for index in files.indices { files[index].words.subtract(declared[files[index].folder] ?? []) }
  }

  /// The folder that declares a type, if only one does.
  func owner(of name: String) -> String? { owners[name].flatMap { $0.count == 1 ? $0.first : nil } }
}
