#if Explorer
import CacheEngine
import CacheEngineNetwork
import ExplorerCommands
import ExplorerText
import Yams

/// The levels that hold values or fetch them.
extension ConfigurationReader {
  func memory(_ fields: inout FieldReader) -> MemorySpecification {
    var memory = MemorySpecification()
    if let capacity = fields.quantity("capacity", Quantity.bytes) { memory.capacity = capacity }
    memory.countLimit = fields.number("count", in: 1...Int(Int32.max))
    (memory.lifetime, memory.jitter) = fields.lifetime()
    if let kept = fields.quantity("keepExpired", Quantity.duration) { memory.keepsExpired = kept }
    memory.timeToIdle = fields.quantity("timeToIdle", Quantity.timeLimit)
    let eviction = fields.quantity("policy") { (text) throws(QuantityError) in
      guard let eviction = Eviction(name: text) else {
        throw QuantityError(
          "there is no policy “\(text)”", "use \(Eviction.all.map(\.name).joined(separator: ", "))")
      }
      return eviction
    }
    if let eviction { memory.eviction = eviction }
    return memory
  }

  func disk(_ fields: inout FieldReader) -> DiskSpecification? {
    let directory = fields.require("directory", "write directory: ./cache", fields.quantity("directory", path))
    let capacity = fields.quantity("capacity") { (text) throws(QuantityError) in
      let bytes = try Quantity.bytes(text)
      guard bytes >= 1 << 20 else { throw QuantityError("\(text) is too little for a disk", "give at least 1 MiB") }
      return bytes
    }
    let (lifetime, jitter) = fields.lifetime()
    let keepsExpired = fields.quantity("keepExpired", Quantity.duration)
    let durability = fields.quantity("durability", Self.durability)
    let isShared = fields.quantity("sharing", Self.isShared)
    guard let directory else { return nil }
    var disk = DiskSpecification(directory: absolute(directory))
    if let capacity { disk.capacity = capacity }
    (disk.lifetime, disk.jitter) = (lifetime, jitter)
    if let keepsExpired { disk.keepsExpired = keepsExpired }
    if let durability { disk.durability = durability }
    if let isShared { disk.isShared = isShared }
    return disk
  }

  func defaults(_ fields: inout FieldReader) -> DefaultsSpecification? {
    let domain = fields.require(
      "domain", "write domain: com.example.settings",
      fields.quantity("domain") { (text) throws(QuantityError) in
        guard (1...200).contains(text.utf8.count), text.utf8.allSatisfy(isDomainLetter), !text.hasPrefix(".") else {
          throw QuantityError(
            "“\(text)” is no name of settings",
            "use letters, digits, dots, dashes and underscores, as in com.example.app")
        }
        return text
      })
    let directory = fields.quantity("directory", path)
    let (lifetime, jitter) = fields.lifetime()
    let durability = fields.quantity("durability", Self.durability) ?? .buffered
    return domain.map {
      DefaultsSpecification(
        domain: $0, directory: directory.map(absolute), lifetime: lifetime, jitter: jitter, durability: durability)
    }
  }

  /// Reads `models: demo` or `models: { directory: … }`.
  mutating func models(_ node: Node) -> ModelsSpecification? {
    let place = node.place ?? Place(line: 1, column: 1)
    if node.scalar?.string == "demo" { return .demo }
    var fields = FieldReader(node, owner: "models", file: file, place: place)
    let directory = fields.require("directory", "write directory: ./models", fields.quantity("directory", path))
    let prefix = fields.text("prefix")
    problems += fields.finish()
    return directory.map { .archive(directory: absolute($0), prefix: prefix ?? "models/") }
  }

  private static func isShared(_ text: String) throws(QuantityError) -> Bool {
    let words = ["exclusive", "acrossProcesses"]
    guard let place = words.firstIndex(of: text) else {
      throw QuantityError("there is no sharing “\(text)”", NearestName.remedy(for: text, among: words))
    }
    return place == 1
  }

  private static func durability(_ text: String) throws(QuantityError) -> Durability {
    guard let durability = Durability(rawValue: text) else {
      throw QuantityError(
        "there is no durability “\(text)”", NearestName.remedy(for: text, among: Durability.allCases.map(\.rawValue)))
    }
    return durability
  }

  func path(_ text: String) throws(QuantityError) -> String {
    guard !text.isEmpty, !text.contains("\0") else {
      throw QuantityError("that is no path", "write directory: ./cache")
    }
    guard text != "~", !text.utf8.starts(with: "~/".utf8) else {
      throw QuantityError("only a shell reads “~” as your home", "write the path in full, or ./\(text) if you mean it")
    }
    return text
  }

  func absolute(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)".replacing("/./", with: "/")
  }

  func network(_ fields: inout FieldReader) -> NetworkSpecification? {
    let template = fields.require(
      "url", "write url: \"http://127.0.0.1:8089/{key}\"",
      fields.quantity("url") { (text) throws(QuantityError) in
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
          throw QuantityError("“\(text)” is not a web address", "begin it with http:// or https://")
        }
        guard text.contains("{key}") || text.contains("{+key}") else {
          throw QuantityError("the address does not say where the key goes", "put {key} or {+key} into it")
        }
        do { _ = try NetworkTemplate(text) } catch {
          let message = (error as? CacheError)?.message ?? "that is not a web address"
          throw QuantityError(
            message.split(separator: ";").first.map(String.init) ?? message,
            "write one like http://127.0.0.1:8089/{key}")
        }
        return text
      })
    let timeout = fields.quantity("timeout", Quantity.timeLimit)
    let connect = fields.quantity("connectTimeout", Quantity.timeLimit)
    guard let template else { return nil }
    var network = NetworkSpecification(template: template)
    if let timeout { network.timeout = timeout }
    if let connect { network.connectTimeout = connect }
    return network
  }

  func origin(_ fields: inout FieldReader) -> OriginSpecification {
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
}

/// Letters, digits, dots, dashes and underscores of ASCII.
private func isDomainLetter(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
  default: false
  }
}
#endif
