import CacheEngine
import ExplorerCommands
package import ExplorerConfiguration
import ExplorerState

/// A cache in use, with what it was made of.
package struct OpenedCache: Sendable {
  package typealias Build = @Sendable (CacheConfiguration, String) async throws -> LiveCache

  package var configuration: CacheConfiguration?
  package var file = ""
  /// It can be read again.
  package var isFile = false
  package var live: LiveCache
  /// Makes a cache of a configuration, told of by the same observers.
  package var build: Build

  package init(
    configuration: CacheConfiguration? = nil, file: String = "", isFile: Bool = false, live: LiveCache,
    build: @escaping Build = { configuration, file in try await CacheBuilder.build(configuration, file: file) }
  ) {
    self.configuration = configuration
    self.file = file
    self.isFile = isFile
    self.live = live
    self.build = build
  }

  /// What is different, level by level.
  package func changes(from old: OpenedCache) -> String {
    let before = old.configuration?.levelsByName ?? [:]
    let after = configuration?.levelsByName ?? [:]
    var parts: [String] = []
    func add(_ names: [String], _ word: String) {
      if !names.isEmpty { parts.append("\(word) \(names.sorted().joined(separator: ", "))") }
    }
    add(after.keys.filter { before[$0] == nil }, "new:")
    add(before.keys.filter { after[$0] == nil }, "gone:")
    add(after.keys.filter { before[$0] != nil && before[$0] != after[$0] }, "changed:")
    return "\(file) is in use" + (parts.isEmpty ? "" : "; " + parts.joined(separator: "; "))
  }
}

extension CacheConfiguration {
  /// Every level and operator without its place in the file, which moves with every line above it.
  fileprivate var levelsByName: [String: LevelSpecification] {
    allLevels.reduce(into: [:]) { $0[$1.name] = $1.withoutPlaces }
  }
}

extension LevelSpecification {
  fileprivate var withoutPlaces: LevelSpecification {
    var copy = self
    copy.place = Place(line: 0, column: 0)
    switch kind {
    case .around(let operation, let inner): copy.kind = .around(operation, inner.map(\.withoutPlaces))
    case .lanes(let condition, let then, let otherwise):
      copy.kind = .lanes(
        condition, then: then.map(\.withoutPlaces), otherwise: otherwise.map(\.withoutPlaces))
    case .stale(let stale, let level, let from):
      copy.kind = .stale(stale, level: level.map(\.withoutPlaces), from: from.map(\.withoutPlaces))
    case .memory, .disk, .defaults, .redis, .network, .origin, .empty: break
    }
    return copy
  }
}
