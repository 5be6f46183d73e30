/// One step of `transformKeys`.
package enum KeyStep: Equatable, Sendable {
  case lowercase
  case uppercase
  /// Sixty-four hexadecimal digits.
  case sha256
  case prefix(String)
  case suffix(String)
  /// With `{key}` where the key goes.
  case template(String)

  package static let words = ["lowercase", "uppercase", "sha256"]
  package static let fields = ["prefix", "suffix", "template"]

  package func apply(to key: String) -> String {
    switch self {
    case .lowercase: key.lowercased()
    case .uppercase: key.uppercased()
    case .sha256: SHA256.hexadecimal(of: key.utf8)
    case .prefix(let text): text + key
    case .suffix(let text): key + text
    case .template(let text): text.replacing("{key}", with: key)
    }
  }

  /// Whether two keys may become one.
  var mayCollide: Bool { self == .lowercase || self == .uppercase }

  package var text: String {
    switch self {
    case .lowercase: "lowercase"
    case .uppercase: "uppercase"
    case .sha256: "sha256"
    case .prefix(let text): "\(text)…"
    case .suffix(let text): "…\(text)"
    case .template(let text): text
    }
  }
}
