extension StringProtocol {
  /// The lines, without what ends them: a line feed, or a carriage return before one, which Swift takes for one character.
  package var lines: [SubSequence] {
    split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
  }
}
