/// The version of an app: numbers with dots between them.
///
/// Versions are compared number by number, and one that is missing counts as 0: 1.10 is higher than 1.9, and 1.2 is the
/// same as 1.2.0. What is not a digit ends a number; what follows until the next dot does not count.
struct AppVersion: Sendable, Codable, Comparable, CustomStringConvertible {
  let description: String

  init(_ text: String) { description = text }

  /// The digits of each number without leading zeros, so that no number is too long.
  private var numbers: [Substring] {
    description.split(separator: ".", omittingEmptySubsequences: false).map { part in
      part.prefix { ("0"..."9").contains($0) }.drop { $0 == "0" }
    }
  }

  private static func pairs(_ left: AppVersion, _ right: AppVersion) -> [(Substring, Substring)] {
    let (left, right) = (left.numbers, right.numbers)
    return (0..<max(left.count, right.count)).map { place in
      (place < left.count ? left[place] : "", place < right.count ? right[place] : "")
    }
  }

  static func == (left: AppVersion, right: AppVersion) -> Bool { pairs(left, right).allSatisfy { $0 == $1 } }

  static func < (left: AppVersion, right: AppVersion) -> Bool {
    guard let (left, right) = pairs(left, right).first(where: { $0 != $1 }) else { return false }
    return (left.utf8.count, String(left)) < (right.utf8.count, String(right))
  }
}
