#if Redis
import CacheEngine

/// The errors for what a server refuses: its own words, and what can be done.
enum RedisRefusal {
  /// What the words begin with, or have in them, and what then helps.
  private static let remedies: [(words: String, remedy: String)] = [
    ("NOAUTH", "give a password, and a user if it is not the default one"),
    ("WRONGPASS", "the user or the password is wrong, or the user is off"),
    ("invalid password", "the password is wrong"),
    (
      "run the 'info' command",
      "let the user do it with ACL SETUSER; who looks at a server needs +@read +@connection +info"
    ),
    ("run the 'monitor' command", "let the user do it with ACL SETUSER and +monitor"),
    (
      "NOPERM",
      "let the user do it with ACL SETUSER; a namespace photos needs ~photos:* &photos:* +@read +@write +@transaction "
        + "+@scripting +@pubsub +@connection +time"
    ),
    ("READONLY", "this is a replica, which is only read: give the address of the primary"),
    ("NOREPLICAS", "the primary wants replicas that are not there: see min-replicas-to-write"),
    ("MASTERDOWN", "this is a replica without its primary: give the address of the primary"),
    ("OOM", "the server is full: raise maxmemory, or let it evict with maxmemory-policy allkeys-lru"),
    ("MISCONF", "the server cannot save to its disk: see its log, or stop-writes-on-bgsave-error"),
    ("BUSY", "a script keeps the server busy: wait for its end, or end it with SCRIPT KILL"),
    ("LOADING", "the server reads its data from the disk, and can be asked when it has"),
    ("DENIED", "the server is in protected mode: give it a password, or bind it to this machine"),
    ("max number of clients", "raise maxclients, or let fewer processes connect"),
    ("DB index", "there are as many databases as the server's setting databases says, from 0"),
    ("SELECT is not allowed", "a cluster has database 0 only"),
    ("MOVED", "a cluster is followed where its servers know HELLO, from Redis 6 on"),
    ("ASK ", "a cluster is followed where its servers know HELLO, from Redis 6 on"),
    ("CLUSTERDOWN", "the cluster has lost servers, or is choosing others in their place: see CLUSTER INFO"),
    ("WRONGTYPE", "something other than bytes has a name of the namespace: see TYPE, and remove it with DEL"),
    ("unknown command", "the server was configured not to have it, is not Redis, or is too old"),
  ]

  static func error(_ text: String, _ settings: RedisSettings) -> CacheError {
    let text = String(harmless(text, settings).prefix(300))
    let remedy = remedies.first { text.contains($0.words) }.map { "; \($0.remedy)" } ?? ""
    return CacheError(
      .refusedByServer, "at \(settings.address) the server refused: \(text)\(remedy)", level: settings.name)
  }

  /// The server's words without what it repeats of a command that it does not know: with `HELLO` comes the password.
  private static func harmless(_ text: String, _ settings: RedisSettings) -> String {
    let words = text.firstRange(of: ", with args").map { String(text[..<$0.lowerBound]) } ?? text
    // A password that is among the words by which errors are known is given away by them no more than by any other error.
    guard let password = settings.password, !password.isEmpty,
      !remedies.contains(where: { $0.words.contains(password) })
    else { return words }
    // By scalars: its beginning may make one character with the sign before it.
    return String(words.unicodeScalars.replacing(password.unicodeScalars, with: "***".unicodeScalars))
  }
}

extension CacheError {
  /// Whether the server would refuse it again: it does not know it, or this user may not, be it in a script.
  var isLastingRefusal: Bool { code == .refusedByServer && Self.lasting.contains { message.contains($0) } }

  private static let lasting = [
    "NOPERM", "user executing the script", "ACL failure in script", "unknown command", "Unknown command",
  ]
}
#endif
