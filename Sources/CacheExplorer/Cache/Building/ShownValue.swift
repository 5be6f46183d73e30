package import CacheEngine
import CacheEngineNetwork
import CacheEngineTesting

#if canImport(FoundationEssentials)
package import ExplorerConfiguration
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a cache of the explorer may hold: bytes, or something else that it shows as bytes.
package protocol ShownValue: Sendable, CostRepresentable {
  /// What a memory level keeps of it.
  associatedtype Held: Sendable, CostRepresentable = Self

  static var coding: ByteCoding<Self> { get }

  var held: Held { get }
  static func value(of held: Held) -> Self

  /// A level as commands and screens use it.
  static func shown(_ level: some CacheLevel<String, Self>) -> BasicCache<String, Data>

  /// What a level holds, as commands and screens use it.
  static func shown(_ storage: any StorageLevel<String, Self>) -> any StorageLevel<String, Data>

  /// Builds a level whose values not everything can be: a source, settings.
  static func build(
    _ specification: LevelSpecification, in builder: inout CacheBuilder<Self>
  ) throws -> BasicCache<String, Self>

  /// Builds an operator that changes or makes values.
  static func operate(
    _ operation: OperatorSpecification, on level: BasicCache<String, Self>, as name: String,
    in builder: CacheBuilder<Self>
  ) -> BasicCache<String, Self>
}

extension ShownValue where Held == Self {
  package var held: Self { self }
  package static func value(of held: Self) -> Self { held }
}

extension Data: ShownValue {
  package typealias Held = HeldBytes

  package static var coding: ByteCoding<Data> { .data }

  package var held: HeldBytes { HeldBytes(self) }
  package static func value(of held: HeldBytes) -> Data { held.data }

  package static func shown(_ level: some CacheLevel<String, Data>) -> BasicCache<String, Data> { level.normalize() }

  package static func shown(_ storage: any StorageLevel<String, Data>) -> any StorageLevel<String, Data> { storage }

  package static func build(
    _ specification: LevelSpecification, in builder: inout CacheBuilder<Data>
  ) throws -> BasicCache<String, Data> {
    let name = specification.name
    switch specification.kind {
    case .network(let network):
      let level = try NetworkFetcher<String>(
        template: network.template, name: name, timeout: network.timeout, connectTimeout: network.connectTimeout)
      return builder.add(level, specification, storage: nil) {}
    case .origin(let origin):
      let level = SimulatedOrigin(
        name: name, latency: origin.latency, failures: origin.failures, missing: origin.missing, size: origin.size,
        seed: origin.seed, clock: builder.clock, sizes: { _ in TraceReader.size })
      return builder.add(level, specification, storage: nil) {}
    case .defaults(let defaults):
      let level = try UserDefaultsCacheLevel<String, Data>(
        domain: defaults.domain, directory: defaults.directory, name: name,
        expiry: CacheBuilder<Data>.expiry(defaults.lifetime), durability: defaults.durability, clock: builder.clock)
      return builder.add(level, specification, storage: level) {}
    case .memory, .disk, .redis, .empty, .around, .lanes, .stale: preconditionFailure("levels of every value")
    }
  }

  package static func operate(
    _ operation: OperatorSpecification, on level: BasicCache<String, Data>, as name: String,
    in builder: CacheBuilder<Data>
  ) -> BasicCache<String, Data> {
    switch operation {
    case .transformValues(let steps, nil):
      return level.transformValues(ValueSteps(steps: steps)).normalize()
    case .transformValues(let steps, let condition?):
      return level.conditionedValueTransformation(SomeValueSteps(steps: ValueSteps(steps: steps), condition: condition))
        .normalize()
    case .postProcess(let steps, let condition):
      return level.conditionedPostProcess { key, value in
        guard condition?.holds(key) ?? true else { return value }
        return try await ValueSteps(steps: steps).inverseTransform(value)
      }.normalize()
    case .fallback(let value):
      let bytes = Data(value.utf8)
      return level.fallback(name: name, observer: builder.observer, clock: builder.clock) { _, _ in bytes }.normalize()
    default: preconditionFailure("operators on every value")
    }
  }
}

extension CacheBuilder where Value == Data {
  /// Builds a cache.
  ///
  /// `whatIfShare`: The most of the requests' time that it may take to tell what other capacities would bring.
  ///
  /// - Throws: ``ConfigurationFailure`` if a level cannot be opened, with the place in the configuration.
  package static func build(
    _ configuration: CacheConfiguration, file: String, clock: any CacheClock = SystemClock(),
    observers: [any CacheObserver] = [], whatIfShare: Double = 0.05
  ) async throws -> LiveCache {
    var builder = CacheBuilder(
      clock: clock, observers: observers, whatIf: configuration.levelsWithCapacity, whatIfShare: whatIfShare)
    return try await builder.open(configuration, file: file).live
  }
}
