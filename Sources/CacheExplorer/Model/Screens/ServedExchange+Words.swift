import ExplorerState
import ExplorerText

extension ServedExchange {
  /// The colour of its outcome.
  var style: Style {
    switch outcome {
    case .hit: .hit
    case .stale: .warning
    case .validated, .collapsed: .join
    case .forwarded: .miss
    case .refused: .error
    }
  }

  /// Why the server was asked, or the answer was not kept, in a few words.
  var why: String {
    guard let reason else { return detail ?? "" }
    guard !isStored, let detail else { return reason }
    return "\(reason), \(detail)"
  }

  /// What was done and why.
  var sentence: String {
    let asked: String =
      switch reason {
      case nil: ""
      case "uri-miss": "Nothing was stored for its address, so the server was asked."
      case "vary-miss": "What is stored for its address answers other requests (Vary), so the server was asked."
      case "miss": "What is stored could not be read, so the server was asked."
      case "request": "The client asked for the server's own answer."
      case "stale": "What is stored was no longer fresh, or may not be used unasked."
      case "partial": "Only a part is stored, and not all that it asked for."
      case "method": "Its method is never answered from a cache."
      default: "The cache left it to the server."
      }
    switch outcome {
    case .hit: return "The cache answered without asking the server."
    case .stale: return "The cache answered with what was no longer fresh, as is allowed."
    case .validated: return asked + " The server said that what is stored is still right."
    case .collapsed: return asked + " It took part in the request of another client."
    case .refused where detail == "only-if-cached":
      return "The client forbade asking the server (only-if-cached), and nothing that is stored answers it."
    case .refused where refusal != nil: return "It was refused: \(refusal ?? "")."
    case .refused:
      return detail.map(Self.whyUnanswered)
        ?? (isWhole ? "It was refused: see its status." : "Its client left, or the proxy stopped, before its answer.")
    case .forwarded:
      if isStored {
        return asked + (isWhole ? " The answer is stored." : " It broke off here; only a whole answer is stored.")
      }
      return reason == "method" ? asked : asked + " " + whyNotStored
    }
  }

  /// Why the server gave no answer, by the names of RFC 9209.
  private static func whyUnanswered(_ fault: String) -> String {
    let why =
      switch fault {
      case "tls_certificate_error": "its certificate is not valid for it, or nobody who is trusted signed it"
      case "tls_protocol_error": "it speaks no TLS that this program does"
      case "dns_error": "its name is not known"
      case "connection_refused": "nothing listens at its port"
      case "connection_timeout": "no connection could be made in time"
      case "http_response_timeout", "connection_read_timeout", "connection_write_timeout": "it took too long"
      case "connection_terminated": "it ended the connection"
      case "http_protocol_error", "http_response_header_section_size": "what it sent is no valid HTTP"
      default: "it could not be asked"
      }
    return "The server gave no answer: \(why)."
  }

  private var whyNotStored: String {
    switch detail {
    case "no-store": "The answer is not stored: client or server forbid it (no-store)."
    case "private": "The answer is not stored: it is for one person (private)."
    case "authorization":
      "The answer is not stored: it was asked for with credentials, and nothing says that it is for all."
    case "vary": "The answer is not stored: no other request can match its Vary."
    case "cookie": "The answer is not stored: it sets a cookie; --store-cookies keeps such answers."
    case "no-freshness":
      "The answer is not stored: it has no lifetime (max-age, Expires) and no validator (ETag, Last-Modified)."
    case "status": "The answer is not stored: its status is not one that may be kept unasked."
    case "too-long": "The answer is not stored: its content is longer than --body-limit."
    case "no-length": "The answer is not stored: nobody can tell whether its content is whole."
    case "origin-unreachable", "origin-error": "The server failed, and what was stored stood in."
    default: "The answer is not stored."
    }
  }
}
