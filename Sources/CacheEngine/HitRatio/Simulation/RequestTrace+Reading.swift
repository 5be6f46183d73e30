import CacheDisk
import CacheMemory
import CacheCore

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
    do throws(TraceProblem) {
      let format = format ?? TraceFormat(path: path)
      var numbers = RequestNumbers()
      var sizes: [UInt32] = []
      if let width = format.width {
        try TraceBytes.forEachNumber(of: path, width: width) { numbers.add(id: $0) }
      } else {
        (numbers, sizes) = try Self.text(of: path)
      }
      if let sizesPath {
        guard sizes.isEmpty else {
          throw TraceProblem(file: path, message: "has sizes of its own", remedy: "leave \(sizesPath) out")
        }
        try TraceBytes.forEachNumber(of: sizesPath, width: 4) { sizes.append($0) }
        guard sizes.count == numbers.keys.count else {
          throw TraceProblem(
            file: sizesPath, message: "has \(sizes.count) sizes for \(numbers.keys.count) requests",
            remedy: "give one 32-bit number for each request")
        }
      }
      self.init(keys: numbers.keys, distinct: numbers.distinct, sizes: sizes.isEmpty ? nil : sizes)
    } catch { throw error.error }
  }

  private static func text(of path: String) throws(TraceProblem) -> (RequestNumbers, sizes: [UInt32]) {
    var lines = try TraceLines(path: path)
    var numbers = RequestNumbers()
    var sizes: [UInt32] = []
    while let request = try lines.next() {
      numbers.add(request.key)
      func problem(_ message: String, _ remedy: String) -> TraceProblem {
        TraceProblem(file: path, line: request.line, message: message, remedy: remedy)
      }
      if let text = request.size {
        guard let size = UInt32(text) else {
          throw problem("has no size after the tab", "write bytes from 0 to \(UInt32.max), or leave the tab out")
        }
        sizes.append(size)
      }
      guard sizes.isEmpty || sizes.count == numbers.keys.count else {
        throw problem(
          request.size == nil ? "has no size, unlike those before" : "has a size, unlike those before",
          "give every line a size, or none")
      }
    }
    return (numbers, sizes)
  }
}
