package import CacheEngine

extension CacheEvent {
  /// The keys that may occur in what is told of it.
  ///
  /// `levels`: What one of them says of a failure names the key as it knows it.
  package func keys(in levels: [LiveCache.Level]) -> [String] {
    let keys = [key, madeRoomFor].compactMap(\.self)
    guard isFailure else { return keys }
    return keys + Set(levels.flatMap { keys.map($0.storedKey) }).subtracting(keys).sorted()
  }

  private var isFailure: Bool {
    switch kind {
    case .failed, .requestEnded(_, .failed, _): true
    case .operated(.refreshEnded(_, .some)), .operated(.retried), .operated(.fellBack(.some)): true
    default: false
    }
  }
}
