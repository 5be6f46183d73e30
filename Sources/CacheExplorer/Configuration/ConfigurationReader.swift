import Yams

/// Turns the text of a configuration into a ``CacheConfiguration``, or into everything that is wrong with it.
struct ConfigurationReader {
  /// Operators may hold one another this deep.
  private static let mostNested = 16
  /// Aliases may repeat parts of the file, but not make a small file endless.
  private static let (mostNodes, mostDeep) = (100_000, 100)
  private static let kinds = ["memory", "disk", "network", "origin", "pooled"]
  /// What the format has words for and this version has not built.
  private static let later = [
    "defaults", "redis", "capped", "conditioned", "lanes", "transformKeys", "transformValues",
    "postProcess", "stale",
  ]
  private static let policies = ["lru"]

  /// The file's name, for messages.
  let file: String
  /// What relative paths are relative to.
  let folder: String

  private var problems: [ConfigurationProblem] = []
  private var names = NameTable()

  init(file: String, folder: String) {
    self.file = file
    self.folder = folder
  }

  /// Reads a configuration.
  ///
  /// `memory`: How many bytes of memory the machine has, if that is known.
  ///
  /// - Throws: ``ConfigurationFailure`` with all errors.
  static func read(
    _ text: String, file: String, folder: String, memory: Int? = nil
  ) throws(ConfigurationFailure) -> CacheConfiguration {
    var reader = ConfigurationReader(file: file, folder: folder)
    guard let root = reader.compose(text), var configuration = reader.root(root), reader.problems.isEmpty else {
      throw ConfigurationFailure(problems: reader.problems.sorted(by: Self.isEarlier))
    }
    configuration.warnings = ConfigurationLints.warnings(for: configuration, file: file, memory: memory)
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
        if Self.fits(node, depth: 0, &left) { return node }
        report("the file unfolds to too much", "use fewer aliases and levels", at: nil)
        return nil
      }
      report(
        "the file is empty", "write “levels:” and a level below it, as in `- memory: { capacity: 1 MiB }`", at: nil)
    } catch let error as YamlError {
      let (message, place) = error.told
      report(message, "mend the YAML there", at: place)
    } catch {
      report("the YAML cannot be read: \(error)", "mend the YAML", at: nil)
    }
    return nil
  }

  private static func fits(_ node: Node, depth: Int, _ left: inout Int) -> Bool {
    left -= 1
    guard left > 0, depth < mostDeep else { return false }
    for (key, value) in node.mapping ?? [:] {
      guard fits(key, depth: depth + 1, &left), fits(value, depth: depth + 1, &left) else { return false }
    }
    for item in node.sequence ?? [] {
      guard fits(item, depth: depth + 1, &left) else { return false }
    }
    return true
  }

  private mutating func root(_ node: Node) -> CacheConfiguration? {
    guard node.mapping != nil else {
      report("a configuration is a mapping", "begin with “levels:”", at: node.place)
      return nil
    }
    var fields = FieldReader(
      node, owner: "the configuration", file: file, place: node.place ?? Place(line: 1, column: 1))
    let name = fields.text("name")
    let logLevel = fields.quantity("log") { (text) throws(QuantityError) in try LogLevelName.check(text) }
    let workload = fields.node("workload").flatMap { self.workload($0) }
    let list = fields.require("levels", "list the levels from the top", fields.node("levels"))
    problems += fields.finish()
    guard let list else { return nil }
    guard let sequence = list.sequence, !sequence.isEmpty else {
      report("“levels” needs at least one level", "write `- memory: { capacity: 1 MiB }` below it", at: list.place)
      return nil
    }
    names = NameTable(reserved: explicitNames(list, depth: 0))
    let levels = sequence.compactMap { level($0, depth: 0) }
    return CacheConfiguration(name: name ?? stem, levels: levels, workload: workload, logLevel: logLevel)
  }

  private mutating func workload(_ node: Node) -> WorkloadRequest? {
    let place = node.place ?? Place(line: 1, column: 1)
    if let name = node.scalar?.string, !node.isEmpty { return checked(WorkloadRequest(name: name), at: place) }
    var fields = FieldReader(node, owner: "workload", file: file, place: place)
    let name = fields.require("name", "name one of \(Workload.names.joined(separator: ", "))", fields.text("name"))
    let rate = fields.quantity("rate") { (text) throws(QuantityError) in
      guard let rate = Double(text), Workload.rates.contains(rate) else {
        throw QuantityError("“\(text)” is not a rate", "write requests a second, such as 20")
      }
      return rate
    }
    let requests = fields.number("requests", in: 1...1_000_000_000)
    let keys = fields.number("keys", in: 1...10_000_000)
    let seed = fields.number("seed", in: 0...Int.max)
    let key = fields.text("key")
    problems += fields.finish()
    guard let name else { return nil }
    let request = WorkloadRequest(
      name: name, rate: rate, requests: requests, seed: seed.map(UInt64.init), keys: keys, key: key)
    return checked(request, at: place)
  }

  private mutating func checked(_ request: WorkloadRequest, at place: Place) -> WorkloadRequest? {
    guard Workload.names.contains(request.name) else {
      report(
        "there is no workload “\(request.name)”", NearestName.remedy(for: request.name, among: Workload.names),
        at: place)
      return nil
    }
    return request
  }

  /// Reads `kind: { … }`.
  private mutating func level(_ node: Node, depth: Int) -> LevelSpecification? {
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

  private mutating func level(_ word: String, at place: Place, _ value: Node, depth: Int) -> LevelSpecification? {
    guard depth < Self.mostNested else {
      report("operators are nested too deeply", "nest at most \(Self.mostNested)", at: place)
      return nil
    }
    guard Self.kinds.contains(word) else {
      if Self.later.contains(word) {
        report(
          "this version does not know “\(word)” yet", "use one of \(Self.kinds.joined(separator: ", "))", at: place)
      } else {
        report("there is no level “\(word)”", NearestName.remedy(for: word, among: Self.kinds), at: place)
      }
      return nil
    }
    // `pooled: [ … ]` and `pooled: network` hold levels directly.
    if word == "pooled", value.mapping == nil, !value.isEmpty {
      let inner = value.sequence.map(Array.init) ?? [value]
      if inner.isEmpty { reportEmptyPool(at: place) }
      return LevelSpecification(
        name: names.take(nil, kind: "pool"), kind: .pooled(inner.compactMap { level($0, depth: depth + 1) }),
        place: place)
    }
    var fields = FieldReader(value, owner: word, file: file, place: place)
    let name = fields.text("name")
    let kind: LevelSpecification.Kind? =
      switch word {
      case "memory": .memory(memory(&fields))
      case "disk": disk(&fields).map { .disk($0) }
      case "network": network(&fields).map { .network($0) }
      case "origin": .origin(origin(&fields))
      default: pooled(&fields, depth: depth).map { .pooled($0) }
      }
    problems += fields.finish()
    if let name, !names.isFree(name) {
      report("the name “\(name)” is taken", "give every level a name of its own", at: place)
    }
    guard let kind else { return nil }
    return LevelSpecification(name: names.take(name, kind: word == "pooled" ? "pool" : word), kind: kind, place: place)
  }

  private func memory(_ fields: inout FieldReader) -> MemorySpecification {
    var memory = MemorySpecification()
    if let capacity = fields.quantity("capacity", Quantity.bytes) { memory.capacity = capacity }
    memory.countLimit = fields.number("count", in: 1...Int(Int32.max))
    memory.lifetime = fields.quantity("expiry", Quantity.duration)
    _ = fields.quantity("policy") { (text) throws(QuantityError) in
      guard Self.policies.contains(text) else {
        throw QuantityError(
          "this version does not know the policy “\(text)”", "use \(Self.policies.joined(separator: ", "))")
      }
    }
    return memory
  }

  private func disk(_ fields: inout FieldReader) -> DiskSpecification? {
    let directory = fields.require(
      "directory", "write directory: ./cache",
      fields.quantity("directory") { (text) throws(QuantityError) in
        guard !text.isEmpty, !text.contains("\0") else {
          throw QuantityError("that is no path", "write directory: ./cache")
        }
        return text
      })
    let capacity = fields.quantity("capacity") { (text) throws(QuantityError) in
      let bytes = try Quantity.bytes(text)
      guard bytes >= 1 << 20 else { throw QuantityError("\(text) is too little for a disk", "give at least 1 MiB") }
      return bytes
    }
    let lifetime = fields.quantity("expiry", Quantity.duration)
    guard let directory else { return nil }
    var disk = DiskSpecification(directory: directory.hasPrefix("/") ? directory : "\(folder)/\(directory)")
    if let capacity { disk.capacity = capacity }
    disk.lifetime = lifetime
    return disk
  }

  private func network(_ fields: inout FieldReader) -> NetworkSpecification? {
    let template = fields.require(
      "url", "write url: \"http://127.0.0.1:8089/{key}\"",
      fields.quantity("url") { (text) throws(QuantityError) in
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
          throw QuantityError("“\(text)” is not a web address", "begin it with http:// or https://")
        }
        guard text.contains("{key}") || text.contains("{+key}") else {
          throw QuantityError("the address does not say where the key goes", "put {key} or {+key} into it")
        }
        return text
      })
    let timeout = fields.quantity("timeout") { (text) throws(QuantityError) in
      let timeout = try Quantity.duration(text)
      guard timeout > .zero else { throw QuantityError("a time limit of nothing", "give more than 0") }
      return timeout
    }
    guard let template else { return nil }
    var network = NetworkSpecification(template: template)
    if let timeout { network.timeout = timeout }
    return network
  }

  private func origin(_ fields: inout FieldReader) -> OriginSpecification {
    var origin = OriginSpecification()
    if let latency = fields.quantity(
      "latency",
      { (text) throws(QuantityError) in
        try Quantity.range(text, of: Quantity.duration)
      })
    {
      origin.latency = latency
    }
    if let failures = fields.quantity("failures", Quantity.probability) { origin.failures = failures }
    if let missing = fields.quantity("missing", Quantity.probability) { origin.missing = missing }
    if let size = fields.quantity(
      "size",
      { (text) throws(QuantityError) in
        let size = try Quantity.range(text, of: Quantity.bytes)
        guard size.upperBound <= 64 << 20 else { throw QuantityError("\(text) is too large", "give at most 64 MiB") }
        return size
      })
    {
      origin.size = size
    }
    if let seed = fields.number("seed", in: 0...Int.max) { origin.seed = UInt64(seed) }
    return origin
  }

  /// `pooled: { network: { … } }`, `pooled: { level: { … } }` or `pooled: { levels: [ … ] }`.
  private mutating func pooled(_ fields: inout FieldReader, depth: Int) -> [LevelSpecification]? {
    var inner: [LevelSpecification] = []
    var isGiven = false
    if let list = fields.node("levels") {
      let nodes = list.sequence.map(Array.init) ?? [list]
      isGiven = !nodes.isEmpty
      inner += nodes.compactMap { level($0, depth: depth + 1) }
    }
    if let one = fields.node("level") {
      isGiven = true
      if let level = level(one, depth: depth + 1) { inner.append(level) }
    }
    for field in fields.takeRest() {
      isGiven = true
      if let level = level(field.name, at: field.key.place ?? fields.place, field.value, depth: depth + 1) {
        inner.append(level)
      }
    }
    if !isGiven { reportEmptyPool(at: fields.place) }
    return inner.isEmpty ? nil : inner
  }

  private mutating func reportEmptyPool(at place: Place) {
    report("pooled needs a level inside", "write pooled: { network: { … } }", at: place)
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

  private mutating func report(_ message: String, _ remedy: String, at place: Place?) {
    problems.append(ConfigurationProblem(file: file, place: place, message: message, remedy: remedy))
  }
}

/// Gives every level a name of its own: the one it asks for, else its kind, numbered when that repeats.
private struct NameTable {
  private var reserved: Set<String> = []
  private var taken: Set<String> = []

  init(reserved: Set<String> = []) { self.reserved = reserved }

  func isFree(_ name: String) -> Bool { !taken.contains(name) }

  mutating func take(_ name: String?, kind: String) -> String {
    if let name {
      taken.insert(name)
      return name
    }
    let numbered = (1...).lazy.map { $0 == 1 ? kind : "\(kind)-\($0)" }
    let free = numbered.first { [taken, reserved] in !taken.contains($0) && !reserved.contains($0) } ?? kind
    taken.insert(free)
    return free
  }
}

extension YamlError {
  /// What is wrong, in a person's words, and where.
  fileprivate var told: (String, Place?) {
    switch self {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ("this is not YAML: \(problem)", Place(line: mark.line, column: mark.column))
    case .duplicatedKeysInMapping(let duplicates, let context):
      (
        "\(duplicates.map { "“\($0)”" }.joined(separator: ", ")) is given twice",
        Place(line: context.mark.line, column: context.mark.column)
      )
    case .reader(let problem, _, _, _): ("this is not text: \(problem)", nil)
    default: ("the YAML cannot be read: \(self)", nil)
    }
  }
}
