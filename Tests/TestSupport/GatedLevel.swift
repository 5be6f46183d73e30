package import CacheEngine
package import CacheEngineTesting

/// A level that lists what it holds once a gate is open.
package struct GatedLevel<Base: StorageLevel>: StorageDecorator {
  package let base: Base
  package let gate: Gate

  package init(base: Base, gate: Gate = Gate()) {
    self.base = base
    self.gate = gate
  }

  package func contents() async throws -> [EntrySummary<Base.Key>] {
    try await gate.pass()
    return try await base.contents()
  }
}
