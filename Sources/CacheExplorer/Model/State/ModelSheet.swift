import CacheEngine

/// What the Models screen shows: the models of a store by their types, and where the reader is.
struct ModelSheet: Sendable {
  struct Name: Hashable, Comparable, Sendable {
    var type: String
    var id: String

    static func < (left: Name, right: Name) -> Bool { (left.type, left.id) < (right.type, right.id) }
  }

  struct Row: Sendable, Equatable {
    var name: Name
    /// The model is there, and not only pointed to or observed.
    var isStored: Bool
    /// What it weighs, in the store's own measure.
    var cost: Int?
    var deadline: CacheInstant?
    /// Whom it points to, and who points to it.
    var relations: [Name] = []
    var dependents: [Name] = []
    /// The relations are guessed from the values: an archive does not tell what is a relation.
    var isGuessed = false
    var observers = 0
    /// When an observer of it was last called.
    var toldAt: CacheInstant?
    /// Its value as text, or why there is none.
    var detail = ""
  }

  struct Content: Sendable, Equatable {
    /// Where they come from: `live`, or the archive's directory.
    var source: String
    var rows: [Row] = []
    /// Why they cannot be listed.
    var problem: String?
  }

  var content: Content? { didSet { arrange() } }
  var search = TextSearch("") { didSet { arrange() } }
  /// Places in the content's rows, by type and identifier.
  private(set) var order: [Int] = []
  private(set) var cursor = 0
  private(set) var relation = 0
  private var selected: Name?

  var current: Row? { order.indices.contains(cursor) ? content?.rows[order[cursor]] : nil }

  /// How many models there are of each type, stored or not.
  var types: [(type: String, stored: Int, known: Int)] {
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

  mutating func keepVisible() {
    if let selected, let place = order.firstIndex(where: { content?.rows[$0].name == selected }) { cursor = place }
    cursor = min(max(0, cursor), max(0, order.count - 1))
  }

  mutating func move(by distance: Int) {
    cursor = min(max(0, cursor + Self.bounded(distance)), max(0, order.count - 1))
    selected = current?.name
    relation = 0
  }

  mutating func moveRelation(by distance: Int) {
    let count = (current?.relations.count ?? 0) + (current?.dependents.count ?? 0)
    relation = min(max(0, relation + Self.bounded(distance)), max(0, count - 1))
  }

  /// Goes to the model that the chosen relation leads to.
  mutating func follow() {
    guard let current else { return }
    let names = current.relations + current.dependents
    guard names.indices.contains(relation) else { return }
    search = TextSearch("")
    selected = names[relation]
    keepVisible()
    relation = 0
  }
}
