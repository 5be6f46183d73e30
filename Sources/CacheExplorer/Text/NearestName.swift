/// Finds what somebody may have meant.
package enum NearestName {
  /// The name that takes the fewest changes of a character, if that is few enough to be meant.
  package static func of(_ text: String, among names: some Sequence<String>) -> String? {
    let wanted = text.lowercased()
    let nearest = names.map { (name: $0, distance: distance(wanted, $0.lowercased())) }
      .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    guard let nearest, nearest.distance <= max(1, min(wanted.count, nearest.name.count) / 2) else { return nil }
    return nearest.name
  }

  /// What to do about an unknown name: the nearest one, or all of them.
  package static func remedy(for text: String, among names: [String]) -> String {
    if let name = of(text, among: names) { return "did you mean “\(name)”?" }
    return "use one of \(names.joined(separator: ", "))"
  }

  /// The fewest insertions, deletions, changes and swaps of neighbours (Damerau 1964, Levenshtein 1966).
  package static func distance(_ left: String, _ right: String) -> Int {
    let (a, b) = (Array(left.prefix(64)), Array(right.prefix(64)))
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var before = [Int](repeating: 0, count: b.count + 1)
    var above = Array(0...b.count)
    for i in 1...a.count {
      var row = [i]
      for j in 1...b.count {
        var best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, before[j - 2] + 1) }
        row.append(best)
      }
      (before, above) = (above, row)
    }
    return above[b.count]
  }
}
