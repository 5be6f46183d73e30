/// What becomes of a store that the lower level of a composition fails.
public enum PartialStores: Sendable {
  /// The upper level takes the value all the same: a broken disk does not keep memory from being of use.
  ///
  /// When the value leaves there, what the lower level had before is read again.
  case allowed
  /// The upper level is not asked, and the lower level's error is thrown: both keep the value that they had,
  /// unless the store was cancelled: then the upper level forgets the key.
  case refused
}
