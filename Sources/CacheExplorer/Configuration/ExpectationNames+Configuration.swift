import ExplorerCommands

extension ExpectationNames {
  package init(_ configuration: CacheConfiguration, hasProxy: Bool = false) {
    self.init(
      levels: configuration.allLevels.filter(\.inner.isEmpty).map(\.name),
      operators: configuration.allLevels.filter { !$0.inner.isEmpty }.map { ($0.name, $0.word) }, hasProxy: hasProxy)
  }
}
