/// Gives every level a name of its own: the one it asks for, else its kind, numbered when that repeats.
struct NameTable {
  private var reserved: Set<String> = []
  private var taken: Set<String> = []

  init(reserved: Set<String> = []) { self.reserved = reserved }

  func isFree(_ name: String) -> Bool { !taken.contains(name) }

  mutating func take(_ name: String?, kind: String) -> String {
    if let name {
      taken.insert(name)
      return name
    }
    let numbered = (1...).lazy.map { $0 == 1 ? kind : "\(kind)-\($0)" }
    let free = numbered.first { [taken, reserved] in !taken.contains($0) && !reserved.contains($0) } ?? kind
    taken.insert(free)
    return free
  }
}
