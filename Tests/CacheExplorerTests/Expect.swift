import Testing

/// `#expect` for conditions that change a value on the way, which the macro cannot take apart.
func expect(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: sourceLocation)
}
