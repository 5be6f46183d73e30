/// One step of `transformValues` or `postProcess`, on the bytes of a value.
package enum ValueStep: Equatable, Sendable {
  case gzip
  case zlib
  case base64
  /// Canonical JSON: names sorted, no spaces.
  case json
  case uppercase
  case lowercase
  case prefix(String)
  case suffix(String)

  /// What `transformValues` takes: all that can be turned back.
  package static let stored = ["gzip", "zlib", "base64", "json"]
  /// What `postProcess` takes: all that makes sense for a reader.
  package static let read = ["json", "base64", "uppercase", "lowercase"]
  static let readFields = ["prefix", "suffix"]

  package init?(word: String) {
    switch word {
    case "gzip": self = .gzip
    case "zlib": self = .zlib
    case "base64": self = .base64
    case "json": self = .json
    case "uppercase": self = .uppercase
    case "lowercase": self = .lowercase
    default: return nil
    }
  }

  var isCompression: Bool { self == .gzip || self == .zlib }

  package var text: String {
    switch self {
    case .gzip: "gzip"
    case .zlib: "zlib"
    case .base64: "base64"
    case .json: "json"
    case .uppercase: "uppercase"
    case .lowercase: "lowercase"
    case .prefix(let text): "\(text)…"
    case .suffix(let text): "…\(text)"
    }
  }
}
