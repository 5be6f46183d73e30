extension RequestTrace {
  /// Reads a trace from a file, which may be packed with gzip.
  ///
  /// ```swift
  /// let trace = try RequestTrace(contentsOf: "/var/log/requests.txt.gz")
  /// let ratio = HitRatio.simulate(policy: .adaptive, capacity: trace.distinct / 100, trace: trace)
  /// ```
  ///
  /// The file is read piece by piece; what is kept is a number for each request and each different key once.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: How it is written; `nil` to go by its name.
  ///   - sizesPath: The path of a file of 32-bit numbers, one for each request: the sizes of the values in bytes.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidTrace``, which names the line.
  public init(contentsOf path: String, format: TraceFormat? = nil, sizes sizesPath: String? = nil) throws {
    let format = format ?? TraceFormat(path: path)
    var reader = TraceReader()
    if let width = format.width {
      try TraceBytes.forEachNumber(of: path, width: width) { reader.add(id: $0) }
    } else {
      try TraceBytes.forEachLine(of: path) { line, number in try reader.add(line: line, number, of: path) }
    }
    var sizes = reader.sizes
    if let sizesPath {
      guard sizes.isEmpty else {
        throw CacheError(.invalidTrace, "\(path) has sizes of its own; leave \(sizesPath) out")
      }
      try TraceBytes.forEachNumber(of: sizesPath, width: 4) { sizes.append($0) }
      guard sizes.count == reader.keys.count else {
        throw CacheError(
          .invalidTrace,
          "\(sizesPath) has \(sizes.count) sizes for \(reader.keys.count) requests; give one 32-bit number for each request"
        )
      }
    }
    self.init(keys: reader.keys, distinct: reader.distinct, sizes: sizes.isEmpty ? nil : sizes)
  }
}

/// Numbers keys as they come.
private struct TraceReader {
  private(set) var keys: [UInt32] = []
  private(set) var sizes: [UInt32] = []
  private var names: [String: UInt32] = [:]
  private var ids: [UInt32: UInt32] = [:]

  var distinct: Int { names.count + ids.count }

  mutating func add(id: UInt32) {
    if let number = ids[id] { return keys.append(number) }
    keys.append(UInt32(ids.count))
    ids[id] = UInt32(ids.count)
  }

  mutating func add(line: ArraySlice<UInt8>, _ number: Int, of path: String) throws {
    guard let first = line.first, first != UInt8(ascii: "#") else { return }
    let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1, omittingEmptySubsequences: false)
    guard !fields[0].isEmpty, let name = String(validating: fields[0], as: UTF8.self) else {
      throw problem(path, number, fields[0].isEmpty ? "has no key before the tab" : "is not UTF-8", "write a key first")
    }
    if fields.count > 1 {
      guard let size = String(validating: fields[1], as: UTF8.self).flatMap({ UInt32($0) }) else {
        throw problem(
          path, number, "has no size after the tab", "write bytes from 0 to \(UInt32.max), or leave the tab out")
      }
      sizes.append(size)
    }
    keys.append(names[name] ?? UInt32(names.count))
    if keys.last == UInt32(names.count) { names[name] = UInt32(names.count) }
    guard sizes.isEmpty || sizes.count == keys.count else {
      throw problem(
        path, number, fields.count > 1 ? "has a size, unlike those before" : "has no size, unlike those before",
        "give every line a size, or none")
    }
  }

  private func problem(_ path: String, _ line: Int, _ what: String, _ remedy: String) -> CacheError {
    CacheError(.invalidTrace, "\(path), line \(line) \(what); \(remedy)")
  }
}
