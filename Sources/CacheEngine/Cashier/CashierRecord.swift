/// What a ``Cashier`` remembers of itself from one start to the next.
struct CashierRecord: Sendable, Equatable, Codable {
  /// Where it stands in the settings of the cache.
  static let key = "record"

  /// Whose folder it is: names of folders are shorter than identifiers can be.
  var id: String
  /// The highest version of the app that has opened the cache, if any has told its version.
  var version: AppVersion?
  var settings = CashierSettings()

  /// Whether what is stored has to go before this version of the app may use it.
  ///
  /// What nobody knows the version of is taken for older.
  func mustWipe(for opening: AppVersion?, isDurable: Bool) -> Bool {
    guard let opening, !isDurable, !settings.persistsCacheAcrossVersions else { return false }
    return version.map { $0 < opening } ?? true
  }
}
