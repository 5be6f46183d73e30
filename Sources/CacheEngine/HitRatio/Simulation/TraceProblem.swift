import CacheDisk
import CacheCore

/// Why a trace cannot be read, or not any further.
package struct TraceProblem: Error, Equatable, CustomStringConvertible {
  package var file: String
  /// The line that the message is about; `nil` if it is about the whole file.
  package var line: Int?
  /// What the line or the file is, does or lacks: `has no key`.
  package var message: String
  package var remedy: String

  package init(file: String, line: Int? = nil, message: String, remedy: String) {
    self.file = file
    self.line = line
    self.message = message
    self.remedy = remedy
  }

  /// As a compiler writes it, so that editors find the place.
  package var description: String {
    guard let line else { return "\(file): error: the trace \(message); \(remedy)" }
    return "\(file):\(line): error: the line \(message); \(remedy)"
  }

  /// As a sentence of a program writes it.
  var sentence: String { "\(file)\(line.map { ", line \($0)" } ?? "") \(message); \(remedy)" }

  /// What the public API throws.
  var error: CacheError { CacheError(.invalidTrace, sentence) }
}
