public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How the values of a ``Storage`` become bytes, and bytes become values again.
///
/// ``TransformerFactory`` makes the usual ones. One of your own:
///
/// ```swift
/// let reversed = Transformer<String>(
///   name: "reversed", toData: { Data($0.utf8.reversed()) },
///   fromData: { String(decoding: $0.reversed(), as: UTF8.self) })
/// ```
///
/// The name is stored beside the bytes. Bytes of another name are tried all the same, so that a type with the same fields
/// reads what another one wrote, unless there is a migration for that name: see ``migrating(from:_:)``.
public struct Transformer<Value: Sendable>: Sendable {
  /// Names the type and form of the bytes.
  public let name: String
  /// Turns a value into bytes.
  public let toData: @Sendable (Value) throws -> Data
  /// Turns bytes into a value.
  public let fromData: @Sendable (Data) throws -> Value

  private var migrations: [String: @Sendable (Data) throws -> Value] = [:]

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - name: Names the type and form of the bytes; at most 65,535 bytes of UTF-8. `nil` names the type only: two different
  ///     transformers of one type need names.
  ///   - toData: Turns a value into bytes. It runs on the thread of the caller, on that of the callbacks, or in the task
  ///     that asks, and its errors reach the caller.
  ///   - fromData: Turns bytes into a value. For bytes that `toData` did not make it must throw.
  public init(
    name: String? = nil, toData: @escaping @Sendable (Value) throws -> Data,
    fromData: @escaping @Sendable (Data) throws -> Value
  ) {
    let name = name ?? "custom/\(StableName.of(Value.self))"
    self.name = name
    self.toData = toData
    self.fromData = fromData
  }

  /// Creates a transformer that is a coding.
  ///
  /// - Parameter coding: Turns values into bytes and bytes into values.
  public init(_ coding: ByteCoding<Value>) {
    self.init(name: coding.name, toData: coding.encode, fromData: coding.decode)
  }

  /// The same transformer, which also reads values of an old format.
  ///
  /// An entry that was stored under the old transformer's name is read with it and then turned into a value of today.
  /// If the names are the same, the old one is tried where this one fails. On the disk the entry stays as it is until
  /// it is stored again. The old transformer's own migrations are taken over, so formats can be chained.
  ///
  /// ```swift
  /// let users = TransformerFactory.forCodable(ofType: User.self, as: "user.2")
  ///   .migrating(from: TransformerFactory.forCodable(ofType: OldUser.self, as: "user.1")) { old in
  ///     User(name: old.firstName + " " + old.lastName)
  ///   }
  /// ```
  ///
  /// - Parameters:
  ///   - old: Reads the old shape.
  ///   - migrate: Turns a value of the old shape into one of today.
  /// - Returns: The transformer with the migration.
  public func migrating<Old: Sendable>(
    from old: Transformer<Old>, _ migrate: @escaping @Sendable (Old) throws -> Value
  ) -> Transformer {
    var transformer = self
    for (form, read) in old.migrations where transformer.migrations[form] == nil {
      transformer.migrations[form] = { try migrate(try read($0)) }
    }
    transformer.migrations[old.name] = { try migrate(try old.value(from: NamedBytes(form: old.name, bytes: $0))) }
    return transformer
  }

  /// Reads bytes of whatever form.
  func value(from packed: NamedBytes) throws -> Value {
    let migration = migrations[packed.form]
    if packed.form != name, let migration { return try migration(packed.bytes) }
    do { return try fromData(packed.bytes) } catch {
      guard let migration else { throw error }
      return try migration(packed.bytes)
    }
  }
}
