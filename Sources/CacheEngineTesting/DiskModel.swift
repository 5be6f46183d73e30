/// A tree of files of which the disk has only what was synced for sure.
///
/// A plain value. What was done since the last sync of a file, or of a directory for its names, waits, and a power cut
/// leaves any part of it: each page or sector as it stood at some moment since then, a length of some moment, some of the
/// names. After Pillai et al., All File Systems Are Not Created Equal, OSDI 2014, which found that file systems promise no
/// more.
package struct DiskModel: Sendable {
  /// The directory that was there from the beginning.
  package static let root = 0

  enum Change: Sendable {
    case write([UInt8], at: Int)
    case truncate(Int)
    /// A name for a new file or directory.
    case link(String, Int)
    case unlink(String)
    case rename(String, String)
  }

  enum Event: Sendable {
    case change(Int, Change)
    case sync(Int)
    /// The system said that the disk does not have it, and says so once: what waited need never come there.
    case failedSync(Int)
  }

  /// What is left of a tree: paths below the root, and the bytes of a file; `nil` for a directory.
  package typealias Survivors = [String: [UInt8]?]

  private struct Node: Sendable {
    var bytes: [UInt8] = []
    var names: [String: Int] = [:]
    var isDirectory = false
    var waiting: [(moment: Int, change: Change)] = []
    /// How many of those that wait were given up by a failed sync.
    var givenUp = 0
  }

  private static let page = 4_096
  private static let sector = 512

  private var nodes: [Int: Node] = [root: Node(isDirectory: true)]
  private var moment = 0

  mutating func makeNode(_ number: Int, isDirectory: Bool) { nodes[number] = Node(isDirectory: isDirectory) }

  /// A tree that is on the disk already; gives the numbers of its nodes.
  mutating func take(_ survivors: Survivors) -> [String: Int] {
    var numbers = ["": Self.root]
    for path in survivors.keys.sorted() {
      guard let bytes = survivors[path] else { continue }
      let number = numbers.count
      numbers[path] = number
      nodes[number] = Node(bytes: bytes ?? [], isDirectory: bytes == nil)
      let (parent, name) = Self.split(path)
      nodes[numbers[parent] ?? Self.root]?.names[name] = number
    }
    return numbers
  }

  static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  mutating func apply(_ event: Event) {
    moment += 1
    switch event {
    case .change(let node, let change): nodes[node]?.waiting.append((moment, change))
    case .failedSync(let node):
      let waiting = nodes[node]?.waiting.count ?? 0
      nodes[node]?.givenUp = waiting
    case .sync(let number):
      guard var node = nodes[number] else { return }
      sync(&node)
      nodes[number] = node
    }
  }

  private func sync(_ node: inout Node) {
    // Pages that were written after the failure reach the disk whole; nothing more is heard of the others.
    let fresh = Set(node.waiting.dropFirst(node.givenUp).flatMap { Self.pieces(of: $0.change, Self.page) })
    let rest = (0..<node.givenUp).compactMap { place in
      let (moment, change) = node.waiting[place]
      // Nor does what was cut off since, once the disk has the length.
      let left = Self.cut(change, by: node.waiting[(place + 1)...])
      let isDone = Self.pieces(of: left, Self.page).allSatisfy(fresh.contains)
      return isDone ? nil : (moment: moment, change: left)
    }
    let isWhole = node.givenUp == 0
    node.bytes = Self.bytes(of: node, length: .max) { isWhole || fresh.contains($0 / Self.page) ? .max : 0 }
    node.names = Self.names(of: node) { _ in true }
    (node.waiting, node.givenUp) = (rest, rest.count)
  }

  /// A write without what is cut off later.
  private static func cut(_ change: Change, by later: some Sequence<(moment: Int, change: Change)>) -> Change {
    guard case .write(let bytes, let offset) = change else { return change }
    let lengths = later.map { if case .truncate(let length) = $0.change { length } else { Int.max } }
    return .write(Array(bytes.prefix(max(0, (lengths.min() ?? .max) - offset))), at: offset)
  }

  private static func pieces(of change: Change, _ size: Int) -> Range<Int> {
    guard case .write(let bytes, let offset) = change, !bytes.isEmpty else { return 0..<0 }
    return offset / size..<(offset + bytes.count - 1) / size + 1
  }

  /// The bytes of a file with the length that it had before a moment, and each sector as it was before a moment of its own.
  private static func bytes(
    of node: Node, length lengthEnd: Int, fill: UInt8 = 0, end: (_ offset: Int) -> Int
  ) -> [UInt8] {
    var bytes = node.bytes
    var length = bytes.count
    func grow(to count: Int) {
      if bytes.count < count { bytes += repeatElement(fill, count: count - bytes.count) }
    }
    for (moment, change) in node.waiting {
      switch change {
      case .write(let written, let offset):
        if moment < lengthEnd { length = max(length, offset + written.count) }
        grow(to: offset + written.count)
        for piece in pieces(of: change, sector) where moment < end(piece * sector) {
          let range = max(offset, piece * sector)..<min(offset + written.count, (piece + 1) * sector)
          bytes.replaceSubrange(range, with: written[range.lowerBound - offset..<range.upperBound - offset])
        }
      case .truncate(let new):
        if moment < lengthEnd { length = new }
        // Whoever makes the file longer again finds nothing of what was cut off.
        for offset in stride(from: new / sector * sector, to: bytes.count, by: sector) where moment < end(offset) {
          for index in max(new, offset)..<min(bytes.count, offset + sector) { bytes[index] = fill }
        }
      case .link, .unlink, .rename: break
      }
    }
    grow(to: length)
    return Array(bytes.prefix(length))
  }

  private static func names(of node: Node, _ survives: (Int) -> Bool) -> [String: Int] {
    var names = node.names
    // A file known by its old name need not be, if that is all that was lost.
    var seen = names
    for (moment, change) in node.waiting {
      switch change {
      case .link(let name, let number):
        seen[name] = number
        if survives(moment) { names[name] = number }
      case .unlink(let name):
        seen[name] = nil
        if survives(moment) { names[name] = nil }
      case .rename(let old, let new):
        let number = seen.removeValue(forKey: old)
        seen[new] = number
        if survives(moment) {
          names[old] = nil
          names[new] = number
        }
      case .write, .truncate: break
      }
    }
    return names
  }

  /// What a power cut at this moment leaves; another seed, another one of the possibilities.
  package func survivors(seed: UInt64) -> Survivors {
    var cut = PowerCut(seed: seed, now: moment)
    var left: Survivors = [:]
    collect(Self.root, "", &cut, &left)
    return left
  }

  private func collect(_ number: Int, _ path: String, _ cut: inout PowerCut, _ left: inout Survivors) {
    guard let node = nodes[number] else { return }
    guard node.isDirectory else {
      cut.begin(node.waiting.map(\.moment))
      left[path] = Self.bytes(of: node, length: cut.length(), fill: cut.fill()) { cut.piece($0) }
      return
    }
    if !path.isEmpty { left.updateValue(nil, forKey: path) }
    let names = Self.names(of: node) { cut.keepsName($0) }
    for (name, child) in names.sorted(by: { $0.key < $1.key }) {
      collect(child, path.isEmpty ? name : path + "/" + name, &cut, &left)
    }
  }
}

/// One of the ways in which what waits gets lost.
private struct PowerCut {
  enum Way: CaseIterable {
    case everything, nothing, names, bytes, pages, sectors
    /// All that was done before a moment is there, and nothing later.
    case order
  }

  private let way: Way
  private let latest: Int
  private var generator: SeededGenerator
  private var moments: [Int] = []
  private var pieces: [Int: Int] = [:]

  init(seed: UInt64, now: Int) {
    generator = SeededGenerator(seed: seed)
    way = Way.allCases[generator.integer(in: 0...Way.allCases.count - 1)]
    // Where much is synced, only the last things wait.
    latest = generator.integer(in: (generator.integer(in: 0...1) == 0 ? 0 : max(0, now - 32))...now + 1)
  }

  /// Goes on with another file, of which these moments wait.
  mutating func begin(_ moments: [Int]) { (self.moments, pieces) = (moments, [:]) }

  /// Before which moment something of the file was done that is still there.
  private mutating func end() -> Int {
    switch generator.integer(in: 0...3) {
    case 0: 0
    case 1: moments.isEmpty ? 0 : moments[generator.integer(in: 0...moments.count - 1)]
    default: .max
    }
  }

  mutating func length() -> Int {
    switch way {
    case .nothing: 0
    case .everything, .bytes, .names: .max
    case .order: latest
    case .pages, .sectors: end()
    }
  }

  /// What stands where nothing arrived: zeros, or what another file left there.
  mutating func fill() -> UInt8 { generator.integer(in: 0...3) == 0 ? UInt8(generator.integer(in: 1...255)) : 0 }

  mutating func piece(_ offset: Int) -> Int {
    switch way {
    case .nothing, .names: return 0
    case .everything, .bytes: return .max
    case .order: return latest
    case .pages, .sectors:
      let number = offset / (way == .pages ? 4_096 : 512)
      if let known = pieces[number] { return known }
      let chosen = end()
      pieces[number] = chosen
      return chosen
    }
  }

  mutating func keepsName(_ moment: Int) -> Bool {
    switch way {
    case .nothing, .bytes: false
    case .everything, .names: true
    case .order: moment < latest
    case .pages, .sectors: generator.integer(in: 0...1) == 0
    }
  }
}
