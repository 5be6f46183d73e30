import CacheCore
import Synchronization

/// The caches that are open in this process: asking twice for one gives the same.
enum CashierRegistry {
  /// Held weakly: a cache that nobody uses any more goes.
  private struct Slot: Sendable {
    weak var cashier: Cashier?
  }

  private static let open = Mutex<[String: Slot]>([:])
  /// Openings and closings of one folder come one after the other.
  private static let gate = WriteGate<String>()

  /// Gives the cache of a folder, or makes it.
  ///
  /// One that somebody is closing is closed first, whoever's turn it is.
  static func cashier(at folder: String, make: () async throws -> Cashier) async throws -> Cashier {
    if let cashier = known(folder), !cashier.isClosed { return cashier }
    return try await gate.write(folder) {
      if let cashier = known(folder) {
        guard cashier.isClosed else { return cashier }
        try await cashier.shutDown()
      }
      let made = try await make()
      open.withLock { $0[folder] = Slot(cashier: made) }
      return made
    }
  }

  /// Closes a cache that is to be given to nobody any more.
  static func close(_ cashier: Cashier) async throws {
    try await gate.write(cashier.folder) {
      try await cashier.shutDown()
      open.withLock { if $0[cashier.folder]?.cashier === cashier { $0[cashier.folder] = nil } }
    }
  }

  /// Holds up all openings and closings of a folder.
  static func hold(_ folder: String, _ body: () async throws -> Void) async throws {
    try await gate.write(folder, body)
  }

  /// A cache has gone.
  static func forget(_ folder: String) {
    // Another one may stand there by now. That one may end here, but not under the lock, as it then calls this again.
    let other = open.withLock { slots -> Cashier? in
      if let other = slots[folder]?.cashier { return other }
      slots[folder] = nil
      return nil
    }
    withExtendedLifetime(other) {}
  }

  /// Whether there is something known of a folder.
  static func knows(_ folder: String) -> Bool { open.withLock { $0[folder] != nil } }

  private static func known(_ folder: String) -> Cashier? { open.withLock { $0[folder]?.cashier } }
}
