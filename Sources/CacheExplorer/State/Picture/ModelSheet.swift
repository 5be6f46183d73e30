package import CacheEngine

/// What the Models screen shows: the models of a store by their types, and where the reader is.
package struct ModelSheet: Sendable {
  package struct Name: Hashable, Comparable, Sendable, Codable {
    package var type: String
    package var id: String

    package init(type: String, id: String) {
      self.type = type
      self.id = id
    }

    package static func < (left: Name, right: Name) -> Bool { (left.type, left.id) < (right.type, right.id) }
  }

  package struct Row: Sendable, Equatable, Codable {
    package var name: Name
    /// The model is there, and not only pointed to or observed.
    package var isStored: Bool
    /// What it weighs, in the store's own measure.
    package var cost: Int?
    package var deadline: CacheInstant?
    /// Whom it points to, and who points to it.
    package var relations: [Name] = []
    package var dependents: [Name] = []
    /// The relations are guessed from the values: an archive does not tell what is a relation.
    package var isGuessed = false
    package var observers = 0
    /// When an observer of it was last called.
    package var toldAt: CacheInstant?
    /// Its value as text, or why there is none.
    package var detail = ""

    package init(
      name: Name, isStored: Bool, cost: Int? = nil, deadline: CacheInstant? = nil, relations: [Name] = [],
      dependents: [Name] = [], isGuessed: Bool = false, observers: Int = 0, toldAt: CacheInstant? = nil,
      detail: String = ""
    ) {
      self.name = name
      self.isStored = isStored
      self.cost = cost
      self.deadline = deadline
      self.relations = relations
      self.dependents = dependents
      self.isGuessed = isGuessed
      self.observers = observers
      self.toldAt = toldAt
      self.detail = detail
    }
  }

  package struct Content: Sendable, Equatable, Codable {
    /// Where they come from: `live`, or the archive's directory.
    package var source: String
    package var rows: [Row] = []
    /// Why they cannot be listed.
    package var problem: String?

    package init(source: String, rows: [Row] = [], problem: String? = nil) {
      self.source = source
      self.rows = rows
      self.problem = problem
    }
  }

  package var content: Content? { didSet { arrange() } }
  package var search = TextSearch("") { didSet { arrange() } }
  /// Places in the content's rows, by type and identifier.
  package private(set) var order: [Int] = []
  package private(set) var cursor = 0
  package private(set) var relation = 0
  private var selected: Name?

  package init() {}

  package var current: Row? { order.indices.contains(cursor) ? content?.rows[order[cursor]] : nil }

  /// How many models there are of each type, stored or not.
  package var types: [(type: String, stored: Int, known: Int)] {
    var counts: [String: (Int, Int)] = [:]
    for row in content?.rows ?? [] {
      let (stored, known) = counts[row.name.type] ?? (0, 0)
      counts[row.name.type] = (stored + (row.isStored ? 1 : 0), known + 1)
    }
    return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value.0, $0.value.1) }
  }

  private mutating func arrange() {
    let rows = content?.rows ?? []
    order = rows.indices
      .filter { search.isEmpty || search.matches("\(rows[$0].name.type) \(rows[$0].name.id)") }
      .sorted { rows[$0].name < rows[$1].name }
    keepVisible()
  }

  private static func bounded(_ distance: Int) -> Int { min(max(distance, -1_000_000), 1_000_000) }

  package mutating func keepVisible() {
    if let selected, let place = order.firstIndex(where: { content?.rows[$0].name == selected }) { cursor = place }
    cursor = min(max(0, cursor), max(0, order.count - 1))
  }

  package mutating func move(by distance: Int) {
    cursor = min(max(0, cursor + Self.bounded(distance)), max(0, order.count - 1))
    selected = current?.name
    relation = 0
  }

  package mutating func moveRelation(by distance: Int) {
    let count = (current?.relations.count ?? 0) + (current?.dependents.count ?? 0)
    relation = min(max(0, relation + Self.bounded(distance)), max(0, count - 1))
  }

  /// Goes to the model that the chosen relation leads to; whether there is one.
  package mutating func follow() -> Bool {
    guard let current else { return false }
    let names = current.relations + current.dependents
    guard names.indices.contains(relation) else { return false }
    search = TextSearch("")
    selected = names[relation]
    keepVisible()
    relation = 0
    return true
  }
}
