#if Redis
import CacheEngine

/// What others have put under names of a namespace that is not bytes: a list, a hash, a set.
extension RedisNode {
  /// Removes it, so that the next commit is carried out, and returns the error of this one.
  ///
  /// A record is written over, whatever it is. A stamp is made only where there is nothing, and is read: a list in its place would
  /// refuse every write of its namespace. It is worth no more than a stamp that was lost, of which a new one takes the place. If
  /// a stamp is made between the two commands, this clears once more.
  func removeForeign(_ names: [[UInt8]], _ error: CacheError, isAsking: Bool) async -> CacheError {
    // Who asks for the one name after the other where they are on their way would be sent to and fro.
    guard !isAsking else { return error }
    var error = error
    do {
      let types = try await ask(names.map { [Array("TYPE".utf8), self.names.written($0)] }).map(\.string)
      let foreign = zip(names, types).filter { !["string", "none"].contains($0.1) }
      guard !foreign.isEmpty else { return error }
      _ = try await ask([[Array("DEL".utf8)] + foreign.map { self.names.written($0.0) }])
      let found = Set(foreign.map { "a \($0.1 ?? "value of no type") under \(Self.kind(of: $0.0))" }).sorted()
      error.message =
        "at \(settings.address) somebody put \(found.joined(separator: " and ")); it was removed, and the next write does better"
    } catch {
      // Then it stands there still, and the error says what to do.
    }
    return error
  }

  /// A name up to what stands for a key or a tag in it: these are nobody's business.
  private static func kind(of name: [UInt8]) -> String {
    let end = name.indices.filter { name[$0] == 0x3a }.prefix(2).last ?? name.startIndex
    return String(decoding: name[..<end], as: UTF8.self) + ":"
  }
}
#endif
