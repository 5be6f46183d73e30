import CacheEngineTesting
import Foundation
import Testing
@testable import CacheCore

@Suite struct KeyHashingTests {
  private let text = KeyHashing<String>()
  private let number = KeyHashing<Int>()

  @Test("texts that are equal hash alike, however their characters are composed and wherever they stand")
  func canonical() {
    let pairs = [
      ("K", "\u{212a}"), (";", "\u{37e}"), ("`", "\u{1fef}"), ("é", "e\u{301}"), ("Å", "\u{212b}"),
      ("가", "\u{1100}\u{1161}"),
      ("q\u{307}\u{323}", "q\u{323}\u{307}"),
    ]
    for (left, right) in pairs {
      for count in 0...40 {
        let around = String(repeating: "x", count: count)
        for (first, second) in [(around + left, around + right), (left + around, right + around)] {
          #expect(first == second)
          #expect(text(first) == text(second), "\(first) and \(second) are equal and hash differently")
        }
      }
    }
  }

  @Test("random texts hash as their composed and decomposed forms do", arguments: 0..<4)
  func randomText(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let ranges: [ClosedRange<UInt32>] = [
      0x20...0x7e, 0xa0...0x17f, 0x300...0x36f, 0x370...0x3ff, 0x1e00...0x1fff, 0x2100...0x214f, 0xac00...0xac80,
      0xf900...0xfaff, 0x1_f300...0x1_f5ff,
    ]
    for _ in 0..<2_000 {
      var made = ""
      for _ in 0..<Int.random(in: 0...24, using: &generator) {
        let range = ranges.randomElement(using: &generator) ?? 0x20...0x7e
        if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) {
          made.unicodeScalars.append(scalar)
        }
      }
      for other in [made.precomposedStringWithCanonicalMapping, made.decomposedStringWithCanonicalMapping]
      where other == made {
        #expect(text(other) == text(made), "\(made.unicodeScalars.map(\.value)) hashes in two ways")
      }
    }
  }

  @Test("a text hashes alike wherever its bytes lie: in the word, in a buffer, cut from another text")
  func storage() {
    for count in 0...64 {
      let whole = String((0..<count).map { Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8($0 % 26))) })
      let cut = String(("<" + whole + ">").dropFirst().dropLast())
      var reserved = whole
      reserved.reserveCapacity(200)
      let bridged = NSString(string: whole) as String
      #expect(Set([whole, cut, reserved, bridged].map { text($0) }).count == 1)
    }
  }

  @Test("data hashes alike whatever it was cut from, and identifiers by all of their bytes")
  func bytes() {
    let data = KeyHashing<Data>()
    for count in 0...40 {
      let whole = Data((0..<count).map { UInt8($0) })
      #expect(data(whole) == data((Data([9, 9]) + whole + Data([9])).dropFirst(2).dropLast()))
      for place in 0..<count {
        var other = whole
        other[place] ^= 1
        #expect(data(whole) != data(other))
      }
    }
    let identifier = KeyHashing<UUID>()
    let hashes = (0..<1_000).map { _ in identifier(UUID()) }
    #expect(Set(hashes).count > 990)
  }

  @Test("texts of every length up to 100 that differ in one bit of one byte hash differently")
  func everyByte() {
    for count in 1...100 {
      let whole = [UInt8](repeating: UInt8(ascii: "a"), count: count)
      for place in 0..<count {
        var other = whole
        other[place] ^= 2
        #expect(text(String(decoding: whole, as: UTF8.self)) != text(String(decoding: other, as: UTF8.self)))
      }
      #expect(text(String(decoding: whole, as: UTF8.self)) != text(String(decoding: whole.dropLast(), as: UTF8.self)))
    }
  }

  @Test("no byte makes up for the length of a text")
  func lengths() {
    // What a length exclusively ored to the last byte would take for one.
    let texts = (0...16).flatMap { count in
      (0..<16).map { bits in String(repeating: "p", count: count) + String(Unicode.Scalar(UInt8(0x70 ^ bits))) }
    }
    #expect(Set(texts).count == Set(texts.map { text($0) }).count)
  }

  @Test("every bit of a number changes a quarter of the bits of its hash at least")
  func avalanche() {
    var generator = SeededGenerator(seed: 1)
    for bit in 0..<64 {
      var changed = 0
      for _ in 0..<500 {
        let key = Int(truncatingIfNeeded: generator.next())
        changed += (number(key) ^ number(key ^ (1 << bit))).nonzeroBitCount
      }
      // Only the lower bits of a product know of the highest bits of a factor: a third is enough there.
      #expect(changed > 500 * 8, "bit \(bit) changes \(Double(changed) / 500) bits")
    }
  }

  /// How many of 65,536 places 65,536 keys take: by chance 41,427.
  private func places(_ hashes: some Sequence<UInt32>) -> Int { Set(hashes.map { $0 & 0xffff }).count }

  @Test("numbers in a row, in steps of any power of two, and from a generator spread over a table", arguments: 0..<48)
  func steps(_ shift: Int) {
    #expect(places((0..<65_536).map { number($0 << shift) }) > 40_000)
  }

  @Test(
    "texts that count up spread over a table",
    arguments: ["", "key:", "user:profile:0000", "https://example.com/a/rather/long/path/"])
  func counted(prefix: String) {
    #expect(places((0..<65_536).map { text(prefix + String($0)) }) > 40_000)
    #expect(places((0..<65_536).map { text(String($0) + prefix) }) > 40_000)
    #expect(Set((0..<65_536).map { text(prefix + String($0)) }).count > 65_500)
  }

  @Test("keys that collide in one table are spread over another one")
  func tables() {
    let other = KeyHashing<Int>()
    let colliding = (0..<1_000_000).filter { number($0) & 0x3ff == 7 }
    #expect(colliding.count > 500)
    #expect(Set(colliding.map { other($0) & 0x3ff }).count > 300)
  }

  @Test("the secrets are of this process: keys that would collide by wyhash's public constants do not")
  func secrets() {
    // With a factor of zero the other one would not matter.
    func bytes(_ number: UInt64) -> Data { Data((0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }) }
    let data = KeyHashing<Data>()
    let hashes = (0..<1_000 as Range<UInt64>).map { data(bytes(0xa076_1d64_78bd_642f) + bytes($0)) }
    #expect(Set(hashes).count > 990)
    #expect(HashSecrets.secret(0) != HashSecrets.secret(1))
  }

  @Test("a key of the user's hashes by what it feeds, and a key without a way of its own by Swift's hash")
  func ownKeys() {
    struct Page: FastHashable {
      var book: Int
      var page: String
      func hash(into hasher: inout Hasher) { Issue.record("hashed by Hasher") }
      func hashFast(into hasher: inout FastHasher) {
        hasher.combine(book)
        hasher.combine(page)
      }
    }
    struct Plain: Hashable {
      var number: Int
    }
    let pages = KeyHashing<Page>()
    #expect(pages(Page(book: 1, page: "K")) == pages(Page(book: 1, page: "\u{212a}")))
    #expect(Set((0..<1_000).map { pages(Page(book: $0 / 30, page: String($0 % 30))) }).count > 990)
    let plain = KeyHashing<Plain>()
    #expect(Set((0..<1_000).map { plain(Plain(number: $0)) }).count > 990)
    #expect(plain(Plain(number: 5)) == plain(Plain(number: 5)))
  }

  @Test("a hashed key equals another if their bases do, hashes as they do, and is coded as its base")
  func hashedKeys() throws {
    let keys = KeyHashing<HashedKey<String>>()
    #expect(HashedKey("K") == HashedKey("\u{212a}"))
    #expect(HashedKey("a") != HashedKey("b"))
    #expect(keys(HashedKey("K")) == keys(HashedKey("\u{212a}")))
    #expect(Set((0..<1_000).map { keys(HashedKey(String($0))) }).count > 990)
    #expect(String(describing: HashedKey("a")) == "a")
    let coded = try JSONEncoder().encode([HashedKey("a")])
    #expect(String(decoding: coded, as: UTF8.self) == #"["a"]"#)
    #expect(try JSONDecoder().decode([HashedKey<String>].self, from: coded) == [HashedKey("a")])
  }

  @Test("slots by keys are what a dictionary is, through insertions, changes and removals", arguments: 0..<4)
  func slots(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var slots = KeyedSlots<String, Int>()
    var model: [String: Int] = [:]
    for step in 0..<4_000 {
      let key = String(Int.random(in: 0..<100, using: &generator))
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let place = slots.place(of: key, adding: step)
        #expect(slots[place] == model[key, default: step])
        model[key] = slots[place]
      case 1:
        slots.change(key) { $0 += 1 }
        model[key]? += 1
      default:
        let removed = slots.place(of: key).flatMap { slots.remove(at: $0) }
        #expect(removed == model.removeValue(forKey: key))
      }
      #expect(slots.count == model.count)
      #expect(slots[key] == model[key])
    }
    #expect(slots.payloads.sorted() == model.values.sorted())
  }
}
