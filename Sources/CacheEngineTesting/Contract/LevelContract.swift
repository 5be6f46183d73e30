public import CacheEngine

/// What every level promises, as checks that any level can be run through: one of the engine's or one of your own.
///
/// The contract depends on no test library. With Swift Testing and with XCTest it reads:
///
/// ```swift
/// let contract = LevelContract("my level", values: [Data("one".utf8), Data("two".utf8)]) {
///   LevelUnderTest(MyLevel())
/// }
/// #expect(await contract.violations() == [])          // or XCTAssertEqual(violations, [])
/// ```
///
/// or, with a line in the report for each check:
///
/// ```swift
/// @Test(arguments: contract.checks)
/// func keepsTheContract(check: LevelContract<MyLevel>.Check) async { #expect(await check.violations() == []) }
/// ```
///
/// A level that conforms to `StorageLevel`, `ConditionalLevel`, `SelectiveRemoval` or `TaggedLevel` is checked for that as well.
/// Each check has a level of its own from the factory. A level must be able to hold the first two keys with the first
/// two values at the same time, however small it is.
public struct LevelContract<Level: CacheLevel>: Sendable where Level.Value: Equatable {
  /// The name of the level in violations.
  public let name: String
  /// Keys to use, all unequal.
  public let keys: [Level.Key]
  /// Pairs of keys that are equal and yet not the same to the last bit, such as two spellings of one text.
  public let equalKeys: [(Level.Key, Level.Key)]
  /// Values to use, all unequal.
  public let values: [Level.Value]
  /// What the level can do beyond the least.
  public let capabilities: LevelCapabilities

  private let make: @Sendable () async throws -> LevelUnderTest<Level>

  /// Creates the contract of a level.
  ///
  /// - Parameters:
  ///   - name: The name of the level in violations.
  ///   - keys: At least two keys, all unequal.
  ///   - equalKeys: Pairs of keys that are equal but written differently.
  ///   - values: At least two values, all unequal.
  ///   - capabilities: What the level can do beyond the least; more capabilities are more checks.
  ///   - make: Makes a level of its own for each check; empty, unless it is read-only.
  public init(
    _ name: String, keys: [Level.Key], equalKeys: [(Level.Key, Level.Key)] = [], values: [Level.Value],
    capabilities: LevelCapabilities = [], make: @escaping @Sendable () async throws -> LevelUnderTest<Level>
  ) {
    precondition(keys.count > 1 && Set(keys).count == keys.count, "a contract needs at least two keys, all unequal")
    precondition(values.count > 1 && values[0] != values[1], "a contract needs at least two values, all unequal")
    precondition(equalKeys.allSatisfy { $0 == $1 }, "the pairs of equal keys must be equal")
    self.name = name
    self.keys = keys
    self.equalKeys = equalKeys
    self.values = values
    self.capabilities = capabilities
    self.make = make
  }

  /// The checks that apply to a level of these capabilities.
  public var checks: [Check] {
    if capabilities.contains(.readOnly) { return readingChecks + readOnlyChecks }
    return readingChecks + valueChecks + keyChecks + lifetimeChecks + storageChecks + abilityChecks + concurrencyChecks
  }

  /// Runs every check, one after the other.
  ///
  /// - Returns: Where the level broke the contract; empty for a level that keeps it.
  public func violations() async -> [ContractViolation] {
    var all: [ContractViolation] = []
    for check in checks { all += await check.violations() }
    return all
  }

  /// Makes a check from what it does with a level.
  func check(
    _ id: String, _ sentence: String, _ body: @escaping @Sendable (inout ContractTrial<Level>) async throws -> Void
  ) -> Check {
    Check(id: id, sentence: sentence) { [name, make] in
      do {
        var trial = ContractTrial(subject: try await make(), name: name, check: id)
        do { try await body(&trial) } catch {
          trial.report("the check to end", "the error: \(error)")
        }
        return trial.violations
      } catch {
        return [ContractViolation(level: name, check: id, expected: "a fresh level", seen: "the error: \(error)")]
      }
    }
  }

  /// The value that belongs to the key of this position in the checks with many keys.
  func value(_ position: Int) -> Level.Value { values[position % values.count] }
}

extension LevelContract {
  /// One promise of the contract.
  public struct Check: Sendable, Identifiable, CustomStringConvertible {
    /// Names the check, in a word or two.
    public let id: String
    /// What is promised.
    public let sentence: String

    fileprivate let run: @Sendable () async -> [ContractViolation]

    /// The name and the promise.
    public var description: String { "\(id): \(sentence)" }

    /// Runs the check on a level of its own.
    ///
    /// - Returns: Where the level broke the promise; empty if it kept it.
    public func violations() async -> [ContractViolation] { await run() }
  }
}

extension LevelContract where Level.Key == String {
  /// Creates the contract of a level with text keys, asked with keys of every sort.
  ///
  /// - Parameters:
  ///   - name: The name of the level in violations.
  ///   - values: At least two values, all unequal.
  ///   - capabilities: What the level can do beyond the least.
  ///   - make: Makes a level of its own for each check; empty, unless it is read-only.
  public init(
    _ name: String, values: [Level.Value], capabilities: LevelCapabilities = [],
    make: @escaping @Sendable () async throws -> LevelUnderTest<Level>
  ) {
    self.init(
      name, keys: SampleKeys.texts, equalKeys: SampleKeys.equalTexts, values: values, capabilities: capabilities,
      make: make)
  }
}
