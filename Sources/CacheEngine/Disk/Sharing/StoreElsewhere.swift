import CacheCore

/// Entries that are not, or not only, this process's: shared with others, or looked at while another process writes.
protocol StoreElsewhere: AnyObject, Sendable {
  var clock: any CacheClock { get }
  var usage: LevelUsage { get }
  var traffic: StoreTraffic { get }
  /// The files' store while it is this process that owns them: what reads need not ask for.
  var storeHere: SegmentedStore? { get }
  func find(_ key: StoreKey, includingExpired: Bool) async throws -> FoundAnswer
  /// When an entry was stored that has not expired.
  func created(_ key: StoreKey) throws -> Int64?
  func list(from place: Int, of owner: UInt64) async throws -> (entries: [ListedEntry], next: Int?, owner: UInt64)
  func verify(repairing: Bool) async throws -> StoreReport
  /// Carries out a change, and gives what it counts.
  func change(_ request: StoreRequest, from origin: UInt64) async throws -> Int
  func keepExpired(for duration: Duration)
  func listen(_ level: ObjectIdentifier, _ listener: @escaping @Sendable (SegmentedStore.Loss) -> Void)
  func unlisten(_ level: ObjectIdentifier)
  func leave()
  func close() async throws
}

/// What is found somewhere else.
enum FoundAnswer: Sendable {
  case found(FoundValue)
  case miss(MissReason)
}
