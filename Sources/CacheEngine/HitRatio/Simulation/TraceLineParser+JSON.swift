import CacheCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TraceLineParser {
  /// What an object on a line asks for, under the names that caches, servers and nginx's variables have.
  struct JSONRequest: Decodable {
    /// The names that a key may have; the last one is nginx's.
    static let keys = ["key", "url", "uri", "path", "target", "request_uri"]

    var key: String?
    var size: String?
    var method: String?
    var status: String?
    /// An answer that broke off is not.
    var isWhole: Bool
    var time: String?

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Name.self)
      key = Self.text(of: Self.keys, in: fields, other: nil)
      size = Self.text(of: ["size", "bytes", "body_bytes_sent", "bytes_sent"], in: fields)
      method = Self.text(of: ["method", "op", "request_method"], in: fields)
      status = Self.text(of: ["status"], in: fields)
      isWhole = (try? fields.decodeIfPresent(Bool.self, forKey: Name("whole"))) ?? true
      time = Self.text(of: ["time", "timestamp", "ts", "msec", "time_iso8601", "time_local"], in: fields)
    }

    /// Numbers are written as text by some servers, and the other way round; `other` stands for what is neither.
    private static func text(
      of names: [String], in fields: KeyedDecodingContainer<Name>, other: String? = ""
    ) -> String? {
      for name in names.map(Name.init) where fields.contains(name) {
        if let text = try? fields.decode(String.self, forKey: name) { return text }
        if let number = try? fields.decode(Int64.self, forKey: name) { return String(number) }
        // Hashes fill all 64 bits; read as fractions, neighbours would be one key.
        if let number = try? fields.decode(UInt64.self, forKey: name) { return String(number) }
        if let number = try? fields.decode(Double.self, forKey: name) { return String(number) }
        if let null = try? fields.decodeNil(forKey: name), !null { return other }
      }
      return nil
    }
  }

  private struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}
