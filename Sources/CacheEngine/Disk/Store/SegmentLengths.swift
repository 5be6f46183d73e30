/// How far each segment is filled, by their numbers.
///
/// That of the newest is looked up and changed by every write, and stands beside the others, so that nothing is hashed for that.
struct SegmentLengths: Sendable, ExpressibleByDictionaryLiteral {
  private var others: [UInt64: Int] = [:]
  private var newest: (number: UInt64, length: Int)?

  init(dictionaryLiteral elements: (UInt64, Int)...) {
    for (number, length) in elements { self[number] = length }
  }

  var all: [UInt64: Int] {
    guard let newest else { return others }
    return others.merging([newest.number: newest.length]) { $1 }
  }

  subscript(number: UInt64) -> Int? {
    get { newest.map { $0.number == number } == true ? newest?.length : others[number] }
    set {
      if newest?.number == number {
        newest = newValue.map { (number, $0) }
      } else if let newValue, newest.map({ $0.number < number }) ?? others.isEmpty {
        if let newest { others[newest.number] = newest.length }
        newest = (number, newValue)
      } else {
        others[number] = newValue
      }
    }
  }

  mutating func removeValue(forKey number: UInt64) -> Int? {
    defer { self[number] = nil }
    return self[number]
  }

  mutating func keep(where isKept: (UInt64) -> Bool) {
    others = others.filter { isKept($0.key) }
    if let number = newest?.number, !isKept(number) { newest = nil }
  }
}
