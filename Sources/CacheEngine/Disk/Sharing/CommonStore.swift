import CacheCore
internal import CStore
import Dispatch
import Synchronization

/// The store of a directory that several processes use, as one of them has it.
///
/// The process that gets the directory's lock owns the files, and serves the others over a socket beside them. However it ends,
/// the system gives the lock back and the others see their connections end; then one of them gets the lock, reads the log,
/// and serves. A thread of its own seeks, serves or listens; callers send where they are, and answers are told from that
/// thread.
final class CommonStore: StoreElsewhere {
  struct Settings: Sendable {
    var path: String
    var capacity: Int
    var durability: Durability
    var clock: any CacheClock
    var calls: FileCalls
    var cipher: (any StoreCipher)?
    /// How long an owner may be silent.
    var limit: Int64
    /// Shared with no other level of this process.
    var isApart = false
  }

  enum Role: Sendable {
    case seeking
    case owner(StoreServer)
    case guest(FrameSocket, process: Int32, isWelcome: Bool)
  }

  /// What becomes of a question.
  enum Outcome: Sendable {
    /// A frame that is still to be read.
    case frame(SharedFrame)
    /// This process owns the files now.
    case here(isAgain: Bool)
    case silence
    case failed(CacheError)
  }

  struct Call: Sendable {
    var request: StoreRequest
    var origin: UInt64
    var isSent = false
    /// The owner that it was sent to last; 0 if it never was.
    var sentTo: UInt64 = 0
    /// How many connections have ended without answering it.
    var ends = 0
    /// Another owner than the one that it is sent to may have carried it out.
    var isAgain = false
    var tell: @Sendable (Outcome) -> Void

    /// How many of ``CommonStore/mostSent`` it counts as.
    ///
    /// One that two connections have ended without answering is under way alone: then no others end with it.
    var weight: Int { ends < 2 ? 1 : CommonStore.mostSent }
  }

  struct State: Sendable {
    var role = Role.seeking
    var calls: [UInt64: Call] = [:]
    /// In the order in which they were asked.
    var unsent: [UInt64] = []
    var sent = 0
    var lastNumber: UInt64 = 0
    var look = BriefLook()
    /// When something was heard last, and when somebody began to wait for the owner.
    var lastHeard: Int64
    var waitingSince: Int64?
    var isSilent = false
    var pingedAt: Int64?
    /// The thread waits until it is woken.
    var isAsleep = false
    var ownerInstance: UInt64 = 0
    /// Why nobody lets this process in, or why it cannot own the files.
    var refusal: CacheError?
    var expects = StoreExpectation()
    var ears: [UInt64: (origin: UInt64, hear: StoreEar)] = [:]
    var isHearing = false
    /// Whom to tell that everything is heard, or nothing any more; and whether somebody does.
    var tellings: [(StoreEar, HeardStoreChange)] = []
    var isTelling = false
    var listeners: [ObjectIdentifier: @Sendable (SegmentedStore.Loss) -> Void] = [:]
    var isLeaving = false
    var closing: [CheckedContinuation<Void, any Error>] = []
    var usage: LevelUsage
    var traffic = StoreTraffic()
  }

  /// At most this many questions may be under way at once; the rest wait here.
  ///
  /// Each may have a descriptor, for a long value that is sent or comes, and others of this process need some as well.
  static let mostSent = min(2_048, max(16, Int(cstore_descriptor_limit()) / 4))

  /// A question that so many connections have ended without answering may be why they did, and is not asked again.
  static let mostEnds = 8

  let settings: Settings
  let limit: Int64
  let instance = UInt64.random(in: 1 ... .max)
  let part: CommonStores.Part
  let state: Mutex<State>
  let directory: StoreDirectory
  let (poller, waker): (StoreFile, StoreFile)
  /// Left when it is known whether the directory can be used.
  let opening = DispatchSemaphore(value: 0)
  let ended = DispatchGroup()
  /// Tells what left: the listeners may take their time.
  let telling = DispatchQueue(label: "CacheEngine.store.telling")

  var clock: any CacheClock { settings.clock }

  init(_ settings: Settings, _ directory: StoreDirectory) throws {
    self.settings = settings
    self.directory = directory
    limit = settings.limit
    part = CommonStores.Part(identity: directory.identity, number: settings.isApart ? instance : 0)
    state = Mutex(
      State(
        lastHeard: SystemClock().now.nanoseconds,
        expects: StoreExpectation(isSynced: settings.durability == .synced),
        usage: LevelUsage(count: 0, cost: 0, capacity: settings.capacity)))
    var pair: [Int32] = [-1, -1]
    guard unsafe cstore_pair(&pair) == 0 else { throw SystemFailure("socketpair") }
    (poller, waker) = (StoreFile(pair[0]), StoreFile(pair[1]))
  }

  /// Who serves the entries.
  var owner: StoreOwner {
    state.withLock { state in
      switch state.role {
      case .owner: .thisProcess
      case .guest(_, let process, isWelcome: true) where !state.isSilent: .process(process)
      default: .nobody
      }
    }
  }

  /// For tests: whether so many levels are told what leaves.
  func hearsLossesEverywhere(_ count: Int) -> Bool {
    guard case .owner(let server) = state.withLock({ $0.role }) else { return false }
    let here = state.withLock { $0.listeners.count }
    return here + server.lossHearers == count && !server.store.listeners.withLock { $0.isEmpty }
  }

  func wake() {
    var byte: UInt8 = 1
    _ = unsafe cstore_send(waker.descriptor, &byte, 1, -1)
  }

  // MARK: Leaving

  func leave() { CommonStores.leave(self) }

  func close() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let isLast = CommonStores.leave(self, continuation)
      if !isLast { continuation.resume() }
    }
  }
}
