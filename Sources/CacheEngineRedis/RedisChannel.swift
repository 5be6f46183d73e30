#if Redis
import CacheEngineShared

/// What processes tell each other through a channel of their namespace, where the server does not tell it.
///
/// A message is `CEI1`, eight random bytes for who tells, and each name after its length (four bytes, little endian). An empty one
/// only finds out whether telling is allowed.
enum RedisChannel {
  struct Message: Equatable, Sendable {
    var channel: [UInt8]
    var bytes: [UInt8]
  }

  enum Reading: Equatable, Sendable {
    case nothing
    case names([[UInt8]], by: [UInt8])
    /// Nobody who speaks so is known: anything may have been changed.
    case unreadable
  }

  private static let magic = Array("CEI1".utf8)
  private static let instanceLength = 8

  static func newInstance() -> [UInt8] { (0..<instanceLength).map { _ in UInt8.random(in: 0 ... .max) } }

  /// The channel on which changes of a name, or of names that begin so, are told.
  ///
  /// Channels know no databases, so their number is part of the name.
  static func name(for name: [UInt8], database: Int) -> [UInt8]? {
    SharedNamespace.heard(of: name).map { Array($0) + Array("i:\(database)".utf8) }
  }

  /// What is to be told of changes.
  ///
  /// That something was made which was not there is not told: what others hold copies of was changed before, and told then.
  static func messages(telling changes: [SharedChange], by instance: [UInt8], database: Int) -> [Message] {
    var messages: [Message] = []
    for change in changes {
      if case .make = change { continue }
      let name = change.changedName
      guard let channel = self.name(for: name, database: database) else { continue }
      let place = messages.firstIndex { $0.channel == channel } ?? messages.endIndex
      if place == messages.endIndex { messages.append(Message(channel: channel, bytes: magic + instance)) }
      let length = UInt32(clamping: name.count)
      messages[place].bytes += (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
      messages[place].bytes += name
    }
    return messages
  }

  static func read(_ bytes: [UInt8]) -> Reading {
    if bytes.isEmpty { return .nothing }
    guard bytes.count >= magic.count + instanceLength, bytes.starts(with: magic) else { return .unreadable }
    var rest = bytes[magic.count...]
    let instance = Array(rest.prefix(instanceLength))
    rest = rest.dropFirst(instanceLength)
    var names: [[UInt8]] = []
    while !rest.isEmpty {
      guard rest.count >= 4 else { return .unreadable }
      let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      guard length <= rest.count else { return .unreadable }
      names.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return .names(names, by: instance)
  }
}
#endif
