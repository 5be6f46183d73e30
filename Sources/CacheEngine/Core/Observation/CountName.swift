/// The name of a count where counts are written down.
///
/// One list of names and places for each kind of counts says how they add up, what came between two moments, and how they
/// are written: a new count needs one line there.
struct CountName: CodingKey {
  /// More is counted by nobody; what a file or another process may say must not overflow when it is added up.
  static let most = Int(min(1 << 40, Int64(Int.max) / 2))

  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

typealias CountTable<Counts> = [(name: String, path: WritableKeyPath<Counts, Int>)]

extension Encoder {
  /// Writes the counts that are not zero, and gives what more can be written beside them.
  func write<Counts>(_ counts: Counts, by table: CountTable<Counts>) throws -> KeyedEncodingContainer<CountName> {
    var fields = container(keyedBy: CountName.self)
    for (name, path) in table where counts[keyPath: path] != 0 {
      try fields.encode(counts[keyPath: path], forKey: CountName(name))
    }
    return fields
  }
}

extension Decoder {
  /// Reads counts, and gives what stands beside them.
  func read<Counts>(
    _ counts: inout Counts, by table: CountTable<Counts>
  ) throws -> KeyedDecodingContainer<CountName> {
    let fields = try container(keyedBy: CountName.self)
    for (name, path) in table {
      counts[keyPath: path] = try fields.checked(fields.decodeIfPresent(Int.self, forKey: CountName(name)) ?? 0, name)
    }
    return fields
  }
}

extension KeyedDecodingContainer<CountName> {
  fileprivate func checked(_ count: Int, _ name: String) throws -> Int {
    guard (-CountName.most...CountName.most).contains(count) else {
      throw DecodingError.dataCorruptedError(
        forKey: CountName(name), in: self, debugDescription: "nobody counts to \(count)")
    }
    return count
  }

  /// Counts by the word for what they count.
  func counts<Word: RawRepresentable<String> & Hashable>(_ name: String, by word: Word.Type) throws -> [Word: Int] {
    try counts(name).reduce(into: [:]) { counts, count in
      guard let word = Word(rawValue: count.key) else {
        throw DecodingError.dataCorruptedError(
          forKey: CountName(name), in: self, debugDescription: "there is no \(name) “\(count.key)”")
      }
      counts[word] = count.value
    }
  }

  func counts(_ name: String) throws -> [String: Int] {
    let counts = try decodeIfPresent([String: Int].self, forKey: CountName(name)) ?? [:]
    for count in counts.values { _ = try checked(count, name) }
    return counts
  }
}

extension KeyedEncodingContainer<CountName> {
  mutating func encode<Word: RawRepresentable<String>>(_ counts: [Word: Int], as name: String) throws {
    try encode(
      Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }), as: name)
  }

  /// Leaves out what is empty.
  mutating func encode<Counts: Collection & Encodable>(_ counts: Counts, as name: String) throws {
    if !counts.isEmpty { try encode(counts, forKey: CountName(name)) }
  }
}
