/// Keys that have broken caches: use them to test whatever takes text keys.
public enum SampleKeys {
  /// Unequal texts of every sort: empty, with NUL, like paths, much alike, very long, beyond ASCII.
  ///
  /// A level that mistakes them for paths overwrites or removes at most its own folder, and files called `outside`.
  public static let texts: [String] = [
    "plain", "other", "", " ", "\0", "a\0b", "a", "A", "a/b", "a/b/c", "a//b", "/outside", ".", "../outside",
    "~", "con", "a b", "a\nb", "\r\nX: y", "%2e%2e%2f", "key=value&x", "*?<>|:\"", "\u{1b}]0;title\u{7}",
    "\u{202e}gnirts", "\u{200b}", "ß", "ss", "İ", "i̇x", "é", "e", "漢字", "👩‍👩‍👧‍👦", "👩", "\u{10ffff}", "-1", "0", "00",
    String(repeating: "long", count: 1_000), String(repeating: "long", count: 1_000) + "er",
  ]

  /// Texts that are equal and have unequal bytes: the composed and the decomposed form of the same characters.
  public static let equalTexts: [(String, String)] = [
    ("caf\u{e9}", "cafe\u{301}"), ("\u{1e69}", "s\u{323}\u{307}"), ("\u{ac00}", "\u{1100}\u{1161}"),
    ("\u{212b}", "\u{c5}"),
  ]
}
