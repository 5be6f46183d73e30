import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value as the levels of a storage hold it, whatever its type: as it is, as bytes, or both.
///
/// All views of a storage share these. A view of the type that was stored takes the value as it is; another one reads
/// the bytes. Who decodes keeps the value here, so that nobody decodes twice.
final class StoredObject: Sendable {
  private struct State: Sendable {
    var value: (any Sendable)?
    /// Under which name the value is read without its bytes.
    var reader: String?
    var bytes: Data?
    var encode: (@Sendable () throws -> Data)?
  }

  /// Names the type and form of the bytes.
  let form: String
  /// What it weighs in memory.
  let cost: Int
  private let state: Mutex<State>

  /// Bytes that were read.
  init(_ packed: NamedBytes) {
    form = packed.form
    cost = packed.bytes.count
    state = Mutex(State(bytes: packed.bytes))
  }

  /// A value that is to be stored; it is encoded now if a level needs the bytes or is to be told how many there are.
  init<Value: Sendable>(_ value: Value, by transformer: Transformer<Value>?, isEncoded: Bool) throws {
    let bytes = isEncoded ? try transformer?.toData(value) : nil
    form = transformer?.name ?? Self.unencoded
    cost = bytes?.count ?? (value as? any CostRepresentable)?.cost ?? 1
    var initial = State(value: value, reader: form, bytes: bytes)
    if let transformer { initial.encode = { try transformer.toData(value) } }
    state = Mutex(initial)
  }

  deinit {
    let remains = state.withLock { state -> Remains? in
      guard state.value != nil else { return nil }
      // Nothing of it is left to die with this object.
      defer { state = State() }
      return Remains(state)
    }
    if let remains { Afterlife.receive(remains) }
  }

  /// Releases the bytes when they are where they should be: they can be made again.
  func dropBytes() {
    state.withLock { state in
      if state.value != nil, state.encode != nil { state.bytes = nil }
    }
  }

  /// The value, if nothing has to be decoded for it.
  func value<Value: Sendable>(readBy transformer: Transformer<Value>?) -> Value? {
    let reader = transformer?.name
    let value = state.withLock { state -> (any Sendable)? in
      // Where bytes can neither be found nor made, the value is all there is.
      let isAll = state.encode == nil && state.bytes == nil
      return reader == nil || state.reader == reader || isAll ? state.value : nil
    }
    return value.flatMap { $0 as? Value }
  }

  /// The value.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.typeMismatch` if it is of another type and there are no bytes;
  ///   else the transformer's error.
  func value<Value: Sendable>(by transformer: Transformer<Value>?) throws -> Value {
    if let value = value(readBy: transformer) { return value }
    guard let transformer else { throw mismatch(Value.self) }
    let value = try transformer.value(from: try packed { mismatch(Value.self) })
    state.withLock { state in
      guard state.value == nil else { return }
      state.value = value
      state.reader = transformer.name
      guard form == transformer.name else { return }
      state.encode = { try transformer.toData(value) }
      state.bytes = nil
    }
    return value
  }

  /// The bytes for a level that stores bytes.
  func packed() throws -> NamedBytes {
    try packed { CacheError(.encodingFailed, "a value without a transformer cannot be turned into bytes") }
  }

  private func packed(orThrow error: () -> CacheError) throws -> NamedBytes {
    let (bytes, encode) = state.withLock { ($0.bytes, $0.encode) }
    guard let bytes = try bytes ?? encode?() else { throw error() }
    return NamedBytes(form: form, bytes: bytes)
  }

  private func mismatch<Value>(_ type: Value.Type) -> CacheError {
    let held = state.withLock { $0.value }.map { "\(Swift.type(of: $0))" } ?? form
    return CacheError(
      .typeMismatch,
      "the value is a \(held) and is read as a \(type); give both views transformers to read one as the other")
  }

  private static let unencoded = "object"
}

extension ByteCoding where Value == StoredObject {
  static var object: ByteCoding {
    ByteCoding(name: "object", pack: { try $0.packed() }, unpack: { StoredObject($0) })
  }
}
