package import CacheEngine
package import CacheEngineModels
import CacheEngineTesting
import ExplorerCommands
package import ExplorerConfiguration
package import ExplorerState
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Looks into a store of models, again and again, for the Models screen.
package struct ModelShow: Sendable {
  private static let pause = Duration.milliseconds(500)

  private let specification: ModelsSpecification
  private let clock: any CacheClock

  package init(_ specification: ModelsSpecification, clock: any CacheClock) {
    self.specification = specification
    self.clock = clock
  }

  /// Tells what there is, until the task is cancelled.
  package func run(_ tell: (ModelSheet.Content) -> Void) async {
    switch specification {
    case .archive(let directory, let prefix): tell(await Self.archive(directory, prefix: prefix, clock: clock))
    case .demo:
      let library = DemoLibrary(clock: clock)
      var last: ModelSheet.Content?
      while !Task.isCancelled {
        library.step()
        let content = library.content
        if content != last { tell(content) }
        last = content
        do { try await clock.sleep(until: clock.now.advanced(by: Self.pause), tolerance: nil) } catch { return }
      }
    }
  }

  /// Lists an archive once, as it is: nothing is written or evicted there, and its app may have it open.
  static func archive(_ directory: String, prefix: String, clock: any CacheClock) async -> ModelSheet.Content {
    do throws(FoundFile.Failure) { _ = try FoundFile(directory) } catch {
      let problem =
        error.isMissing
        ? "there is no directory \(directory)" : "\(directory) cannot be read (\(error.reason))"
      return ModelSheet.Content(source: directory, problem: problem)
    }
    do {
      let level = try DiskCacheLevel<String, Data>(
        directory: directory, name: "models", access: .readOnly, clock: clock)
      let models = try await ModelArchive.contents(of: level, prefix: prefix, clock: clock)
      return ModelSheet.Content(source: directory, rows: rows(of: models))
    } catch {
      return ModelSheet.Content(source: directory, problem: String(describing: error))
    }
  }

  /// An archive does not tell which part of a value is a relation.
  ///
  /// What is written there for one is the identifier of another model, so that is looked for.
  package static func rows(of models: [ArchivedModel]) -> [ModelSheet.Row] {
    func name(_ model: ArchivedModel) -> ModelSheet.Name {
      let id = try? JSONDecoder().decode(JSONTree.self, from: Data(model.id.utf8))
      if case .text(let text)? = id { return ModelSheet.Name(type: model.type, id: text) }
      return ModelSheet.Name(type: model.type, id: model.id)
    }
    var known: [String: [ModelSheet.Name]] = [:]
    for model in models { known[model.id, default: []].append(name(model)) }
    var rows = models.map { model -> ModelSheet.Row in
      let own = name(model)
      let tree = model.body.flatMap { try? JSONDecoder().decode(JSONTree.self, from: $0) }
      var row = ModelSheet.Row(
        name: own, isStored: model.body != nil, cost: model.body?.count, deadline: model.deadline, isGuessed: true)
      let found = tree.map { Self.identifiers(in: $0) } ?? []
      row.relations = found.flatMap { known[$0] ?? [] }.filter { $0 != own }
      row.detail =
        model.body.map { String(validating: $0, as: UTF8.self) ?? "\($0.count) bytes that are no text" }
        ?? "not in the level"
      return row
    }
    let places = Dictionary(rows.enumerated().map { ($1.name, $0) }) { first, _ in first }
    for row in rows {
      for relation in row.relations { if let place = places[relation] { rows[place].dependents.append(row.name) } }
    }
    return rows
  }

  /// Texts and whole numbers within a value, as identifiers are written.
  private static func identifiers(in tree: JSONTree, isTop: Bool = true) -> [String] {
    switch tree {
    case .text(let text):
      isTop ? [] : [(try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? text]
    case .number(let number): isTop ? [] : [number]
    case .array(let elements): elements.flatMap { identifiers(in: $0, isTop: false) }
    case .object(let members):
      // Its own identifier is no relation.
      members.filter { $0.name != "id" }.flatMap { identifiers(in: $0.value, isTop: false) }
    case .bool, .null: []
    }
  }
}

/// A small library whose models change, with observers: the demonstration of models.
final class DemoLibrary: Sendable {
  struct Author: Identifiable, Sendable, Codable {
    let id: String
    var name: String
    var edits = 0
  }

  struct Book: Identifiable, Sendable, Codable, HasCachedRelationships {
    let id: String
    var title: String
    var author: Related<Author>
    var sequel: Related<Book>?

    var relatedCacheKeys: [ModelKey] { [author.cacheKey] + [sequel?.cacheKey].compactMap(\.self) }
  }

  struct Shelf: Identifiable, Sendable, Codable, HasCachedRelationships {
    let id: Int
    var books: [Related<Book>]

    var relatedCacheKeys: [ModelKey] { books.map(\.cacheKey) }
  }

  private struct State {
    var observations: [ModelObservation] = []
    var told: [ModelKey: CacheInstant] = [:]
    var random = SeededGenerator(seed: 7)
    var steps = 0
  }

  private static let works: [(author: String, name: String, titles: [String])] = [
    ("herbert", "Frank Herbert", ["Dune", "Dune Messiah", "Children of Dune"]),
    ("leguin", "Ursula K. Le Guin", ["The Left Hand of Darkness", "The Dispossessed", "The Word for World Is Forest"]),
    ("lem", "Stanisław Lem", ["Solaris", "The Cyberiad", "Fiasco"]),
    ("butler", "Octavia E. Butler", ["Kindred", "Dawn"]),
  ]

  private let cache: ModelCache
  private let clock: any CacheClock
  private let state = Mutex(State())

  init(clock: any CacheClock) {
    self.clock = clock
    cache = ModelCache(clock: clock)
    for work in Self.works {
      cache.insert(Author(id: work.author, name: work.name))
      for index in work.titles.indices { cache.insert(Self.book(work, index), expiry: .never) }
    }
    for shelf in 0..<3 { cache.insert(Self.shelf(shelf)) }
    for key in ["herbert-0", "lem-0"] { observe(Book.self, key) }
    observe(Author.self, "leguin")
    for shelf in 0..<3 { observe(Shelf.self, shelf) }
    // Observed and not stored: its observer waits for it.
    observe(Book.self, "butler-2")
  }

  private static func book(_ work: (author: String, name: String, titles: [String]), _ index: Int) -> Book {
    let hasSequel = index + 1 < work.titles.count
    return Book(
      id: "\(work.author)-\(index)", title: work.titles[index], author: Related(id: work.author),
      sequel: hasSequel ? Related(id: "\(work.author)-\(index + 1)") : nil)
  }

  private static func shelf(_ id: Int) -> Shelf {
    let books = works.flatMap { work in work.titles.indices.map { "\(work.author)-\($0)" } }
    return Shelf(id: id, books: books.enumerated().filter { $0.offset % 3 == id }.map { Related(id: $0.element) })
  }

  private func observe<Model: Identifiable & Sendable>(_ type: Model.Type, _ id: Model.ID) where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    let observation = cache.observe(type, id: id) { [weak self] _ in self?.told(key) }
    state.withLock { $0.observations.append(observation) }
  }

  private func told(_ key: ModelKey) {
    let now = clock.now
    state.withLock { $0.told[key] = now }
  }

  /// Every few seconds something changes: an author, a book that comes and goes, a shelf.
  func step() {
    let (step, choice) = state.withLock { state in
      state.steps += 1
      return (state.steps, Int(state.random.next() % 64))
    }
    guard step % 4 == 0 else { return }
    let work = Self.works[choice % Self.works.count]
    switch step / 4 % 4 {
    case 0, 2:
      var author = cache.value(Author.self, id: work.author) ?? Author(id: work.author, name: work.name)
      author.edits += 1
      cache.insert(author)
    case 1: cache.insert(Self.book(work, choice % work.titles.count), expiry: .after(.seconds(30)))
    default: cache.insert(Self.shelf(choice % 3))
    }
  }

  var content: ModelSheet.Content {
    let told = state.withLock { $0.told }
    func name(_ key: ModelKey) -> ModelSheet.Name { ModelSheet.Name(type: "\(key.type)", id: "\(key.id)") }
    let rows = cache.inspectAll().map { model in
      ModelSheet.Row(
        name: name(model.key), isStored: model.isStored, cost: nil, deadline: model.deadline,
        relations: model.relations.map(name), dependents: model.dependents.map(name).sorted(),
        observers: model.observerCount, toldAt: told[model.key],
        detail: model.value.map { String(describing: $0) } ?? "not stored; only pointed to or observed")
    }
    return ModelSheet.Content(source: "live", rows: rows.sorted { $0.name < $1.name })
  }
}
