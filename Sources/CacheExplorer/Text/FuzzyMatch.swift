/// How well a name fits what somebody types of it.
///
/// The best begins with it. Next come names in which it is the beginnings of words, one after the other (`smw` in “send a memory
/// warning”), then those that only have its characters in this order. Case and spaces do not matter.
package struct FuzzyMatch: Equatable, Comparable, Sendable {
  package enum Rank: Int, Sendable { case prefix, wordStarts, subsequence }

  package let rank: Rank
  /// Among equals the smaller is the better: how far the characters lie apart, or how much more the name says.
  package let spread: Int

  /// Names are compared up to here.
  package static let longest = 256

  /// Compares what is typed with a name.
  ///
  /// - Returns: `nil` if the name does not have its characters in this order. Everything begins with nothing.
  /// - Complexity: O(*n* · *m*) for *n* characters that are typed and *m* of the name.
  package init?(_ query: String, in name: String) {
    let text = Array(name.lowercased().prefix(Self.longest))
    // One character more than the name has is as much as it lacks.
    let typed = query.lazy.filter { $0 != " " }.prefix(min(Self.longest, text.count + 1))
    let wanted = Array(String(typed).lowercased())
    if wanted.isEmpty {
      self.init(.prefix, 1)
    } else if Self.begins(text, with: wanted) {
      self.init(.prefix, text.count { $0 != " " } == wanted.count ? 0 : 1)
    } else if !Self.has(text, wanted) {
      return nil
    } else if let spread = Self.spread(of: wanted, in: text, atWordStarts: true) {
      self.init(.wordStarts, spread)
    } else if let spread = Self.spread(of: wanted, in: text, atWordStarts: false) {
      self.init(.subsequence, spread)
    } else {
      return nil
    }
  }

  private init(_ rank: Rank, _ spread: Int) {
    self.rank = rank
    self.spread = spread
  }

  package static func < (left: FuzzyMatch, right: FuzzyMatch) -> Bool {
    (left.rank.rawValue, left.spread) < (right.rank.rawValue, right.spread)
  }

  private static func begins(_ text: [Character], with wanted: [Character]) -> Bool {
    text.lazy.filter { $0 != " " }.starts(with: wanted)
  }

  /// Whether the characters occur in this order, which few names have.
  private static func has(_ text: [Character], _ wanted: [Character]) -> Bool {
    var rest = wanted[...]
    for character in text where character == rest.first { rest = rest.dropFirst() }
    return rest.isEmpty
  }

  /// How many cells the characters take at least, from the first to the last of them.
  ///
  /// `atWordStarts`: Each is the next one of its word, or begins a later word.
  private static func spread(of wanted: [Character], in text: [Character], atWordStarts: Bool) -> Int? {
    func later(_ left: Int?, _ right: Int?) -> Int? {
      guard let left, let right else { return left ?? right }
      return max(left, right)
    }
    func isStart(_ place: Int) -> Bool {
      isPart(text[place]) && (place == 0 || !isPart(text[place - 1]))
    }
    // For each place at which what is typed so far can end: the latest place at which it can begin.
    var ends: [Int?] = text.indices.map { place in
      text[place] == wanted[0] && (!atWordStarts || isStart(place)) ? place : nil
    }
    for character in wanted.dropFirst() {
      var next = [Int?](repeating: nil, count: text.count)
      var latest: Int?
      for place in text.indices {
        if text[place] == character {
          let goesOn = place > 0 ? ends[place - 1] : nil
          next[place] = atWordStarts ? later(goesOn, isStart(place) ? latest : nil) : latest
        }
        latest = later(latest, ends[place])
      }
      ends = next
    }
    return text.indices.compactMap { place in ends[place].map { place - $0 + 1 } }.min()
  }

  private static func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
