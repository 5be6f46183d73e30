package import ExplorerCommands

#if Explorer
import ExplorerText
import Yams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns the text of a configuration into a ``CacheConfiguration``, or into everything that is wrong with it.
package struct ConfigurationReader {
  /// Operators may hold one another this deep.
  static let mostNested = 16
  /// Aliases may repeat parts of the file, but not make a small file endless.
  private static let (mostNodes, mostDeep) = (100_000, 100)
  package static let kinds =
    ["memory", "disk", "defaults", "redis", "network", "origin", "empty"] + OperatorSpecification.words + [
      "lanes", "stale",
    ]

  /// The file's name, for messages.
  let file: String
  /// What relative paths are relative to.
  let folder: String

  var problems: [ConfigurationProblem] = []
  private var names = NameTable()
  private var workloadOrigins = FieldOrigins()

  init(file: String, folder: String) {
    self.file = file
    self.folder = folder
  }

  /// Reads a configuration.
  ///
  /// `memory`: How many bytes of memory the machine has, if that is known.
  ///
  /// - Throws: ``ConfigurationFailure`` with all errors.
  package static func read(
    _ text: String, file: String, folder: String, memory: Int? = nil
  ) throws(ConfigurationFailure) -> CacheConfiguration {
    var reader = ConfigurationReader(file: file, folder: folder)
    // Some editors begin UTF-8 with a mark, which libyaml counts as a column: it would indent the first key.
    let text = String(text.trimmingPrefix("\u{feff}"))
    guard let root = reader.compose(text), var configuration = reader.root(root), reader.problems.isEmpty else {
      throw ConfigurationFailure(problems: reader.problems.sorted(by: Self.isEarlier))
    }
    configuration.warnings = ConfigurationLints.warnings(for: configuration, file: file, memory: memory)
      .sorted(by: Self.isEarlier)
    return configuration
  }

  private static func isEarlier(_ left: ConfigurationProblem, _ right: ConfigurationProblem) -> Bool {
    let (a, b) = (left.place, right.place)
    return (a?.line ?? 0, a?.column ?? 0) < (b?.line ?? 0, b?.column ?? 0)
  }

  private mutating func compose(_ text: String) -> Node? {
    do {
      if let node = try Yams.compose(yaml: text), !node.isEmpty {
        var left = Self.mostNodes
        guard let place = Self.excess(in: node, depth: 0, &left) else { return node }
        report("the file unfolds to too much", "use fewer aliases and levels", at: place)
        return nil
      }
      report(
        "the file is empty", "write “levels:” and a level below it, as in `- memory: { capacity: 1 MiB }`", at: nil)
    } catch let error as YamlError {
      let (message, remedy, place) = error.told
      if let place, let tab = Self.tab(at: place, in: text) {
        report("a tab stands where YAML indents", "indent with spaces", at: tab)
      } else {
        report(message, remedy, at: place)
      }
    } catch {
      report("the YAML cannot be read: \(error)", "mend the YAML", at: nil)
    }
    return nil
  }

  /// The tab with which the line of a place is indented.
  private static func tab(at place: Place, in text: String) -> Place? {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    guard lines.indices.contains(place.line - 1) else { return nil }
    let indentation = lines[place.line - 1].prefix { $0 == " " || $0 == "\t" }
    guard let tab = indentation.firstIndex(of: "\t") else { return nil }
    return Place(line: place.line, column: indentation.distance(from: indentation.startIndex, to: tab) + 1)
  }

  /// Where a key is given again, which Yams does not say: the file is read with another name in the first place.
  fileprivate static func repetition(of key: String, first: Mark, in text: String) -> Place? {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    guard lines.indices.contains(first.line - 1) else { return nil }
    let line = lines[first.line - 1].unicodeScalars.dropFirst(first.column - 1)
    guard let renamed = line.indices.first(where: { line[$0] != "\"" && line[$0] != "'" }) else { return nil }
    var scalars = text.unicodeScalars
    scalars.replaceSubrange(renamed...renamed, with: CollectionOfOne("\u{e000}"))
    var left = mostNodes
    guard let root = try? Yams.compose(yaml: String(scalars)), excess(in: root, depth: 0, &left) == nil else {
      return nil
    }
    return root.place(of: key, besideKeyAt: Place(first))
  }

  /// Two levels that keep their entries in one place would overwrite each other's.
  private mutating func checkFolders(_ levels: [LevelSpecification]) {
    var owners: [String: String] = [:]
    for level in levels {
      let folder: String
      switch level.kind {
      case .disk(let disk): folder = Self.real(disk.directory)
      case .redis(let redis): folder = redis.place
      case .defaults(let defaults): folder = "\(defaults.directory.map(Self.real) ?? "")\n\(defaults.domain)"
      default: continue
      }
      if let owner = owners[folder] {
        report(
          "\(level.name) has the place of \(owner): each would drop what the other keeps",
          "give every level a place of its own",
          at: level.origins.places["directory"] ?? level.origins.places["namespace"] ?? level.place)
      } else {
        owners[folder] = level.name
      }
    }
  }

  private static func real(_ path: String) -> String { URL(filePath: path).standardized.resolvingSymlinksInPath().path }

  /// Where there is too much; `nil` if there is not.
  private static func excess(in node: Node, depth: Int, _ left: inout Int) -> Place? {
    left -= 1
    let place = node.place ?? Place(line: 1, column: 1)
    guard left > 0, depth < mostDeep else { return place }
    let children = node.mapping.map { $0.flatMap { [$0.key, $0.value] } } ?? node.sequence.map(Array.init) ?? []
    for child in children {
      guard let inner = excess(in: child, depth: depth + 1, &left) else { continue }
      // What an alias stands for is before it.
      return (inner.line, inner.column) < (place.line, place.column) ? place : inner
    }
    return nil
  }

  private mutating func root(_ node: Node) -> CacheConfiguration? {
    guard node.mapping != nil else {
      report("a configuration is a mapping", "begin with “levels:”", at: node.place)
      return nil
    }
    var fields = FieldReader(
      node, owner: "the configuration", file: file, place: node.place ?? Place(line: 1, column: 1))
    let name = fields.quantity("name", Self.name)
    let logLevel = fields.quantity("log") { (text) throws(QuantityError) in try LogLevelName.check(text) }
    let workload = fields.node("workload").flatMap { self.workload($0) }
    let models = fields.node("models").flatMap { self.models($0) }
    let list = fields.require("levels", "list the levels from the top", fields.node("levels"))
    problems += fields.finish()
    guard let list else { return nil }
    guard let sequence = list.isEmpty ? [] : list.sequence else {
      report(
        "“levels” must be a list", "write a dash before each level: `- memory: { capacity: 1 MiB }`", at: list.place)
      return nil
    }
    guard !sequence.isEmpty else {
      report("“levels” needs at least one level", "write `- memory: { capacity: 1 MiB }` below it", at: list.place)
      return nil
    }
    names = NameTable(reserved: explicitNames(list, depth: 0))
    let levels = sequence.compactMap { level($0, depth: 0) }
    checkFolders(levels.flatMap(\.withInner))
    problems += CoherenceCheck(levels, file: file).problems
    return CacheConfiguration(
      name: name ?? stem, levels: levels, workload: workload, workloadOrigins: workloadOrigins, logLevel: logLevel,
      models: models)
  }

  private mutating func workload(_ node: Node) -> WorkloadRequest? {
    let place = node.place ?? Place(line: 1, column: 1)
    workloadOrigins.places[""] = place
    if let name = node.scalar?.string, !node.isEmpty { return checked(WorkloadRequest(name: name), at: place) }
    var fields = FieldReader(node, owner: "workload", file: file, place: place)
    let name = fields.require("name", "name one of \(WorkloadTable.names.joined(separator: ", "))", fields.text("name"))
    let rate = fields.quantity("rate", WorkloadTable.rate)
    let requests = fields.number("requests", in: 1...1_000_000_000)
    let keys = fields.number("keys", in: 1...10_000_000)
    let seed = fields.number("seed", in: 0...Int.max)
    let key = fields.text("key")
    let skew = fields.quantity("skew", WorkloadTable.skew)
    let file = fields.quantity("file", path).map(absolute)
    workloadOrigins.places.merge(fields.origins.places) { $1 }
    problems += fields.finish()
    guard let name else { return nil }
    let request = WorkloadRequest(
      name: name, rate: rate, requests: requests, seed: seed.map(UInt64.init), keys: keys, key: key, skew: skew,
      file: file)
    return checked(request, at: place)
  }

  private mutating func checked(_ request: WorkloadRequest, at place: Place) -> WorkloadRequest? {
    guard WorkloadTable.names.contains(request.name) else {
      let first = request.name.prefix { $0 != " " }
      // As the command line has it.
      let hasOptions = first != request.name && WorkloadTable.names.contains(String(first))
      report(
        "there is no workload “\(request.name)”",
        hasOptions
          ? "write options as fields: workload: { name: \(first), rate: 20 }"
          : NearestName.remedy(for: request.name, among: WorkloadTable.names), at: place)
      return nil
    }
    if request.name == "trace", request.file == nil {
      report("the workload trace needs “file”", "write workload: { name: trace, file: ./requests.txt }", at: place)
      return nil
    }
    for option in WorkloadTable.ownOptions {
      guard let place = workloadOrigins.places[option] else { continue }
      do { try WorkloadTable.check(option, of: request.name) } catch {
        report("“\(option)” of workload: \(error.message)", error.remedy, at: place)
      }
    }
    return request
  }

  /// Reads `kind: { … }`.
  mutating func level(_ node: Node, depth: Int) -> LevelSpecification? {
    let place = node.place ?? Place(line: 1, column: 1)
    if let word = node.scalar?.string, !node.isEmpty {
      return level(word, at: place, Node("", .implicit, .plain), depth: depth)
    }
    guard let mapping = node.mapping, mapping.count == 1, let (key, value) = mapping.first.map({ ($0.key, $0.value) })
    else {
      report(
        "a level is one kind with its fields", "write `- memory: { capacity: 1 MiB }`, one level an entry", at: place)
      return nil
    }
    return level(key.string ?? "", at: key.place ?? place, value, depth: depth)
  }

  mutating func level(_ word: String, at place: Place, _ value: Node, depth: Int) -> LevelSpecification? {
    guard depth < Self.mostNested else {
      report("operators are nested too deeply", "nest at most \(Self.mostNested)", at: place)
      return nil
    }
    guard Self.kinds.contains(word) else {
      report("there is no level “\(word)”", NearestName.remedy(for: word, among: Self.kinds), at: place)
      return nil
    }
    // `pooled: [ … ]` and `pooled: network` hold levels directly.
    if word == "pooled", value.mapping == nil, !value.isEmpty {
      let inner = levels(in: value, depth: depth + 1)
      if value.sequence?.isEmpty == true { reportEmpty(word, at: place) }
      return LevelSpecification(name: names.take(nil, kind: "pool"), kind: .around(.pooled, inner), place: place)
    }
    var fields = FieldReader(value, owner: word, file: file, place: place)
    let name = fields.quantity("name", Self.name)
    let kind = kind(word, &fields, depth: depth)
    let origins = fields.origins
    problems += fields.finish()
    if let name, !names.isFree(name) {
      report("the name “\(name)” is taken", "give every level a name of its own", at: place)
    }
    guard let kind else { return nil }
    return LevelSpecification(
      name: names.take(name, kind: word == "pooled" ? "pool" : word), kind: kind, place: place, origins: origins)
  }

  private mutating func kind(_ word: String, _ fields: inout FieldReader, depth: Int) -> LevelSpecification.Kind? {
    switch word {
    case "memory": .memory(memory(&fields))
    case "disk": disk(&fields).map { .disk($0) }
    case "defaults": defaults(&fields).map { .defaults($0) }
    case "redis": redis(&fields).map { .redis($0) }
    case "network": network(&fields).map { .network($0) }
    case "origin": .origin(origin(&fields))
    case "empty": .empty
    case "lanes": lanes(&fields, depth: depth)
    case "stale": stale(&fields, depth: depth)
    default: around(word, &fields, depth: depth)
    }
  }

  /// A name is written on commands and on the screen.
  private static func name(_ text: String) throws(QuantityError) -> String {
    guard !text.trimmingSpaces.isEmpty else {
      throw QuantityError("a name of nothing", "write a name, or leave the field out")
    }
    guard text.count <= 100, harmless(text) == text else {
      throw QuantityError("that is no name", "write at most 100 characters that can be seen")
    }
    return text
  }

  /// One level, or a list of them.
  mutating func levels(in node: Node, depth: Int) -> [LevelSpecification] {
    (node.sequence.map(Array.init) ?? [node]).compactMap { level($0, depth: depth) }
  }

  private func explicitNames(_ node: Node, depth: Int) -> Set<String> {
    guard depth < Self.mostNested * 2 else { return [] }
    var found: Set<String> = []
    if let mapping = node.mapping {
      for (key, value) in mapping {
        if key.string == "name", let name = value.scalar?.string { found.insert(name) }
        found.formUnion(explicitNames(value, depth: depth + 1))
      }
    }
    for item in node.sequence.map(Array.init) ?? [] { found.formUnion(explicitNames(item, depth: depth + 1)) }
    return found
  }

  private var stem: String {
    let last = file.split(separator: "/").last.map(String.init) ?? file
    return last.hasSuffix(".yaml") || last.hasSuffix(".yml") || last.hasSuffix(".json")
      ? String(last[..<(last.lastIndex(of: ".") ?? last.endIndex)]) : last
  }

  mutating func report(_ message: String, _ remedy: String, at place: Place?) {
    problems.append(ConfigurationProblem(file: file, place: place, message: message, remedy: remedy))
  }
}

extension YamlError {
  /// What is wrong, in a person's words, what to do about it, and where.
  fileprivate var told: (message: String, remedy: String, place: Place?) {
    switch self {
    case .parser(_, let problem, let mark, _) where problem.hasPrefix("Maximum nesting level"):
      ("the file is nested too deeply", "use fewer levels within each other", Place(mark))
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      ("this is not YAML: " + Self.sentence(problem, at: mark, context), "mend the YAML there", Place(mark))
    case .duplicatedKeysInMapping(let duplicates, let context):
      (
        "“\(duplicates[0])” is given twice, "
          + (ConfigurationReader.repetition(of: duplicates[0], first: context.mark, in: context.text)
            .map { "here and at \($0.line):\($0.column)" } ?? "first here"),
        "leave one of them out", Place(context.mark)
      )
    case .reader(let problem, _, _, _): ("this is not text: \(problem)", "mend the YAML", nil)
    default: ("the YAML cannot be read: \(self)", "mend the YAML", nil)
    }
  }

  /// A problem shows where the file goes on; to be mended is often what began before.
  private static func sentence(_ problem: String, at mark: Mark, _ context: Context?) -> String {
    guard let context else { return problem }
    guard context.text.hasPrefix("while ") else { return "\(context.text) \(problem)" }
    let beginning = Place(context.mark) == Place(mark) ? "" : ", which begins at \(context.mark)"
    return "\(problem) \(context.text)\(beginning)"
  }
}

extension Place {
  fileprivate init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}

extension Node {
  /// Where a key stands in the mapping that has another one at a place.
  fileprivate func place(of key: String, besideKeyAt first: Place) -> Place? {
    if let mapping, mapping.keys.contains(where: { $0.place == first }) {
      return mapping.keys.first { $0.string == key }?.place
    }
    let children = mapping.map { Array($0.values) } ?? sequence.map(Array.init) ?? []
    return children.lazy.compactMap { $0.place(of: key, besideKeyAt: first) }.first
  }
}
#else
/// Where there is nothing to read YAML with.
package enum ConfigurationReader {
  package static func read(
    _ text: String, file: String, folder: String, memory: Int? = nil
  ) throws(ConfigurationFailure) -> CacheConfiguration {
    let problem = ConfigurationProblem(
      file: file, message: "this build cannot read configurations", remedy: "build with --traits Explorer")
    throw ConfigurationFailure(problems: [problem])
  }
}
#endif
