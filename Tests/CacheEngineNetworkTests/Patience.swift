extension Duration {
  /// A deadline that no answer on this machine meets, however busy it is; the time limit of a test comes first.
  static let patience = Duration.seconds(600)
}
