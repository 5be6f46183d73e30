import CacheEngine

/// Whether everything that a cache depends on is there, for those who would rather not begin without.
package enum Reachability {
  /// A key that nobody has, so that a source has little to do to answer.
  private static let probe = "cache-explorer-probe"

  /// The names of the sources and shared levels that cannot be reached, each with the reason.
  package static func unreachable(in live: LiveCache) async -> [String] {
    var problems: [String] = []
    for level in live.levels {
      do { try await level.probe?(probe) } catch let error as CacheError {
        // An answer, even that there is no such thing, is an answer.
        if level.shared != nil || [.unreachable, .timedOut, .invalidAddress, .simulated].contains(error.code) {
          problems.append("\(level.name): \(error.message)")
        }
      } catch { problems.append("\(level.name): \(error)") }
    }
    return problems
  }
}
