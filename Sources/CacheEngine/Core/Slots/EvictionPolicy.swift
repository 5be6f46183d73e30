/// Decides which entry leaves when room is needed.
///
/// A policy orders slot numbers. It knows neither keys nor values and holds no lock. Copies share its arrays, so only one of them may be
/// used further. Whatever it divides among queues it divides by the entries that are there when room is needed, so that it needs no
/// capacity and weighted entries ask nothing of it: whoever needs room calls ``evict()`` until there is enough.
@usableFromInline
package protocol EvictionPolicy: Sendable {
  init()
  /// A key that is not held is about to be inserted; called before room is made for it.
  mutating func arriving(_ hash: UInt32)
  /// An entry was put into a slot that was free.
  mutating func inserted(_ slot: Int32, hash: UInt32)
  /// The entry in a slot was read or overwritten.
  mutating func touched(_ slot: Int32)
  /// The entry in a slot left for another reason than room: it is forgotten.
  mutating func removed(_ slot: Int32)
  /// Chooses the entry that leaves and takes it out of the order; `nil` if there is none.
  mutating func evict() -> Int32?
  /// The hash that a slot was inserted with, until the slot is used again.
  func hash(_ slot: Int32) -> UInt32
  #if DEBUG
  /// What is wrong with the policy's order if these are the slots in use; `nil` if nothing is.
  func flaw(holding slots: Set<Int32>) -> String?
  #endif
}

extension EvictionPolicy {
  @usableFromInline
  package mutating func arriving(_ hash: UInt32) {}
}
