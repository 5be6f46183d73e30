import CacheMemory

/// A policy that a trace can be simulated through: every `Eviction`, and three to measure them by.
public enum SimulatedPolicy: String, Sendable, CaseIterable {
  /// What was stored first leaves.
  case fifo
  /// What was not used for the longest time leaves.
  case lru
  /// First in, first out with a second chance.
  case clock
  /// A hand that spares in place.
  case sieve
  /// A small queue, a main queue and ghosts.
  case s3fifo
  /// 2Q: a queue, an order of use, and ghosts (T. Johnson, D. Shasha, VLDB 1994).
  case twoQueue = "2q"
  /// ARC: what was used once and what was used twice, balanced by their ghosts (N. Megiddo, D. S. Modha, FAST 2003).
  case arc
  /// W-TinyLFU with a window that adapts.
  case wtinylfu
  /// The best of several divisions between recency and frequency, tried on a sample.
  case adaptive
  /// The optimum, which knows the future: what is needed again last leaves (L. A. Belady, IBM Systems Journal 5(2), 1966).
  case optimum = "opt"
}
