#if HTTP
public import CacheCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ByteCoding where Value == StoredVariants {
  /// The bytes of stored responses: for a disk level, a shared one or an encrypted one.
  ///
  /// What is read is checked whatever its source: no count and no length is believed beyond the bytes that are there, and what is
  /// left over, of another version or not in HTTP is refused with `CacheError.Code.invalidCachedData`.
  public static var storedVariants: ByteCoding {
    ByteCoding(
      name: "http-variants/1",
      encode: { variants in
        var writer = VariantWriter()
        writer.write(variants)
        return writer.bytes
      },
      decode: { bytes in
        var reader = VariantReader(bytes)
        do throws(VariantReader.Damage) {
          return try reader.variants()
        } catch {
          throw CacheError(.invalidCachedData, "the stored HTTP responses cannot be read: \(error.text)")
        }
      })
  }
}

/// Writes the layout.
///
/// That is: version, count; of each response status (with its highest bit set if it answered a HEAD), reason, both times, fields,
/// trailers, selecting fields and body; then a checksum of all but the bodies. Numbers are little-endian, texts and lists have their
/// length before them.
private struct VariantWriter {
  private(set) var bytes = Data()
  private var sum = HeadChecksum()

  mutating func write(_ variants: StoredVariants) {
    put(VariantReader.version)
    put(UInt8(clamping: variants.responses.count))
    for response in variants.responses.prefix(Int(UInt8.max)) { write(response) }
    let sum = sum.value
    put(sum)
  }

  private mutating func write(_ response: StoredResponse) {
    put(UInt16(clamping: response.head.status.code) | (response.isHeadOnly ? VariantReader.headOnly : 0))
    put(Array(response.head.status.reasonPhrase.utf8))
    put(response.requestTime.clampedNanoseconds)
    put(response.responseTime.clampedNanoseconds)
    put(response.head.headerFields)
    put(response.trailers)
    let selecting = response.selecting.sorted
    put(UInt32(clamping: selecting.count))
    for (name, value) in selecting {
      put(Array(name.rawName.utf8))
      put(UInt8(value == nil ? 0 : 1))
      if let value { put(Array(value.utf8)) }
    }
    put(UInt64(response.body.count))
    bytes.append(response.body)
  }

  private mutating func put(_ fields: HTTPFields) {
    put(UInt32(clamping: fields.count))
    for field in fields {
      put(Array(field.name.rawName.utf8))
      put(unsafe field.withUnsafeBytesOfValue { unsafe Array($0) })
    }
  }

  private mutating func put(_ text: [UInt8]) {
    put(UInt32(clamping: text.count))
    sum.add(text)
    bytes.append(contentsOf: text)
  }

  private mutating func put(_ number: some FixedWidthInteger) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      let byte = UInt8(truncatingIfNeeded: number >> shift)
      sum.add([byte])
      bytes.append(byte)
    }
  }
}

private struct VariantReader {
  static let version: UInt8 = 1
  static let headOnly: UInt16 = 1 << 15

  struct Damage: Error {
    let text: String
  }

  private var rest: Data
  private var sum = HeadChecksum()

  init(_ bytes: Data) { rest = bytes }

  mutating func variants() throws(Damage) -> StoredVariants {
    guard try number(UInt8.self) == Self.version else { throw Damage(text: "they are of another version") }
    var responses: [StoredResponse] = []
    for _ in 0..<(try number(UInt8.self)) { responses.append(try response()) }
    let expected = sum.value
    guard try number(UInt64.self) == expected else { throw Damage(text: "their checksum is wrong") }
    guard rest.isEmpty else { throw Damage(text: "there is more behind them") }
    return StoredVariants(responses)
  }

  private mutating func response() throws(Damage) -> StoredResponse {
    let status = try number(UInt16.self)
    let code = Int(status & ~Self.headOnly)
    guard (200...999).contains(code) else { throw Damage(text: "a status is invalid") }
    let reason = try text()
    guard reason.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw Damage(text: "a reason phrase is invalid")
    }
    let requestTime = Duration.nanoseconds(try number(Int64.self))
    let responseTime = Duration.nanoseconds(try number(Int64.self))
    let fields = try fields()
    let trailers = try self.fields()
    var selecting: [HTTPField.Name: String?] = [:]
    for _ in 0..<(try number(UInt32.self)) {
      let name = try name()
      selecting[name] = .some(try number(UInt8.self) == 0 ? nil : try text())
    }
    let size = try number(UInt64.self)
    guard size <= UInt64(rest.count) else { throw Damage(text: "a body is cut") }
    let body = rest.prefix(Int(size))
    rest = rest.dropFirst(Int(size))
    var response = StoredResponse(
      head: HTTPTypes.HTTPResponse(status: .init(code: code, reasonPhrase: reason), headerFields: fields),
      // A copy of its own, so that one response does not hold the bytes of all.
      body: Data(body), trailers: trailers, requestTime: requestTime, responseTime: responseTime,
      selecting: SelectingFields(values: selecting))
    response.isHeadOnly = status & Self.headOnly != 0
    guard !response.isHeadOnly || body.isEmpty else { throw Damage(text: "what answered a HEAD has a body") }
    return response
  }

  private mutating func fields() throws(Damage) -> HTTPFields {
    var fields = HTTPFields()
    for _ in 0..<(try number(UInt32.self)) {
      let name = try name()
      let value = try bytes()
      guard !value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
        throw Damage(text: "a field's value is invalid")
      }
      fields.append(HTTPField(name: name, lenientValue: value))
    }
    return fields
  }

  private mutating func name() throws(Damage) -> HTTPField.Name {
    guard let name = HTTPField.Name(try text()) else { throw Damage(text: "a field's name is invalid") }
    return name
  }

  private mutating func text() throws(Damage) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else { throw Damage(text: "a text is not UTF-8") }
    return text
  }

  private mutating func bytes() throws(Damage) -> [UInt8] {
    let count = Int(try number(UInt32.self))
    guard count <= rest.count else { throw Damage(text: "they are cut") }
    let bytes = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    sum.add(bytes)
    return bytes
  }

  private mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(Damage) -> Number {
    let size = Number.bitWidth / 8
    guard rest.count >= size else { throw Damage(text: "they are cut") }
    let bytes = Array(rest.prefix(size))
    rest = rest.dropFirst(size)
    sum.add(bytes)
    return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}

/// FNV-1a of 64 bits: tells damage, not malice.
private struct HeadChecksum {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}
#endif
