#if Redis
/// How names are written on the server.
///
/// In a cluster all names of a namespace stand in one slot, which their hash tag chooses: `photos:r:a` is `{photos}:r:a` there. So
/// what belongs together is read and changed in one moment.
enum RedisNames: Sendable {
  case plain
  case tagged

  private static let (open, close, colon) = (UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ":"))

  func written(_ name: [UInt8]) -> [UInt8] {
    guard self == .tagged, let end = name.firstIndex(of: Self.colon), end > 0, name[0] != Self.open else { return name }
    return [Self.open] + name[..<end] + [Self.close] + name[end...]
  }

  func read(_ name: [UInt8]) -> [UInt8] {
    guard self == .tagged, name.first == Self.open, let end = name.firstIndex(of: Self.close), end > 1,
      end + 1 < name.count, name[end + 1] == Self.colon
    else { return name }
    return Array(name[1..<end] + name[(end + 1)...])
  }
}
#endif
