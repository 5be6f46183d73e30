import CacheDisk
import CacheCore

extension RequestTrace {
  /// Reads a trace from a file, which may be packed with gzip, or on Linux and macOS with zstd or xz if their programs are
  /// installed.
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
  ///   - format: How it is written; `nil` to go by its name, and else by its first lines.
  ///   - sizesPath: The path of a file of 32-bit numbers, one for each request: the sizes of the values in bytes.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidTrace`, which names the line.
  public init(contentsOf path: String, format: TraceFormat? = nil, sizes sizesPath: String? = nil) throws {
    do throws(TraceProblem) {
      var (requests, sized) = (0, 0)
      var trace = try Self(reading: path, format: format) { request, name throws(TraceProblem) in
        func problem(_ message: String, _ remedy: String) -> TraceProblem {
          TraceProblem(file: name, line: request.line, message: message, remedy: remedy)
        }
        requests += 1
        sized += request.size == nil ? 0 : 1
        let size = request.size.flatMap { UInt32($0) }
        guard (size == nil) == (request.size == nil) else {
          throw problem("has no size after the tab", "write bytes from 0 to \(UInt32.max), or leave the tab out")
        }
        guard sized == 0 || sized == requests else {
          throw problem(
            size == nil ? "has no size, unlike those before" : "has a size, unlike those before",
            "give every line a size, or none")
        }
        return size
      }
      if let sizesPath { trace = try trace.sized(by: sizesPath, of: path) }
      self = trace
    } catch { throw error.error }
  }

  /// Reads a trace of any format.
  ///
  /// `textSize`: The size of a request of a text, whose name it is told; one that is missing anywhere leaves the whole trace without sizes.
  package init(
    reading path: String, format: TraceFormat?,
    textSize: (TraceLines.Request, String) throws(TraceProblem) -> UInt32?
  ) throws(TraceProblem) {
    var numbers = RequestNumbers()
    if let known = format ?? TraceFormat(path: path), let width = known.width, known != .oracleGeneral {
      let assumed = format == nil ? known : nil
      try TraceBytes.forEachNumber(of: path, width: width, assumed: assumed) { numbers.add(id: $0) }
      self.init(keys: numbers.keys, distinct: numbers.distinct, sizes: nil, format: known)
      return
    }
    var lines = try TraceLines(path: path, format: format)
    var sizes: [UInt32] = []
    // What the requests of each key say of its size last, and the place of the first that does. Beyond 4 GiB a size is 4 GiB.
    var known: [(size: UInt32, since: Int)?] = []
    while let request = try lines.next() {
      let number = numbers.add(request.key)
      if lines.format == .text {
        if let size = try textSize(request, lines.name) { sizes.append(size) }
        continue
      }
      if number == known.count { known.append(nil) }
      if let size = request.size {
        known[number] = (UInt32(clamping: UInt64(size) ?? .max), known[number]?.since ?? sizes.count)
      }
      sizes.append(known[number]?.size ?? 0)
    }
    let isKnown = known.contains { $0 != nil }
    if isKnown {
      for (place, number) in numbers.keys.enumerated() {
        if let known = known[Int(number)], place < known.since { sizes[place] = known.size }
      }
    }
    let hasSizes = sizes.count == numbers.keys.count && (known.isEmpty || isKnown)
    self.init(
      keys: numbers.keys, distinct: numbers.distinct, sizes: hasSizes && !sizes.isEmpty ? sizes : nil,
      skipped: lines.skipped, format: lines.format)
  }

  private func sized(by sizesPath: String, of path: String) throws(TraceProblem) -> RequestTrace {
    guard sizes == nil else {
      throw TraceProblem(file: path, message: "has sizes of its own", remedy: "leave \(sizesPath) out")
    }
    var sizes: [UInt32] = []
    try TraceBytes.forEachNumber(of: sizesPath, width: 4) { sizes.append($0) }
    guard sizes.count == keys.count else {
      throw TraceProblem(
        file: sizesPath, message: "has \(sizes.count) sizes for \(keys.count) requests",
        remedy: "give one 32-bit number for each request")
    }
    return RequestTrace(
      keys: keys, distinct: distinct, sizes: sizes.isEmpty ? nil : sizes, skipped: skipped, format: format)
  }
}
