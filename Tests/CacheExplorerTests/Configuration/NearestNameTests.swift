import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct NearestNameTests {
  @Test(
    "The distance counts insertions, deletions, changes and swaps of neighbours",
    arguments: [
      ("", "", 0), ("disk", "disk", 0), ("", "disk", 4), ("disk", "", 4), ("dsk", "disk", 1), ("disks", "disk", 1),
      ("desk", "disk", 1), ("dsik", "disk", 1), ("kitten", "sitting", 3),
    ])
  func distance(left: String, right: String, distance: Int) {
    #expect(NearestName.distance(left, right) == distance)
    #expect(NearestName.distance(right, left) == distance)
  }

  @Test(
    "A slip of the finger finds the name, and a different word finds none",
    arguments: [
      ("memroy", "memory"), ("MEMORY", "memory"), ("dsk", "disk"), ("netwrok", "network"), ("pool", "pooled"),
      ("elephant", nil), ("xyzzy", nil),
    ])
  func nearest(text: String, name: String?) {
    #expect(NearestName.of(text, among: ["memory", "disk", "network", "pooled"]) == name)
  }

  @Test("Among equally near names the first in the alphabet is meant, whatever their order")
  func ties() {
    #expect(NearestName.of("gat", among: ["get", "gas", "set"]) == "gas")
    #expect(NearestName.of("gat", among: ["set", "gas", "get"]) == "gas")
  }

  @Test("No names, no nearest one")
  func noNames() {
    #expect(NearestName.of("get", among: [String]()) == nil)
  }

  @Test("The remedy is a question where a name is near, and a list where none is")
  func remedy() {
    #expect(NearestName.remedy(for: "dsk", among: ["memory", "disk"]) == "did you mean “disk”?")
    #expect(NearestName.remedy(for: "elephant", among: ["memory", "disk"]) == "use one of memory, disk")
  }

  @Test("A very long text is compared by its beginning, in bounded time")
  func long() {
    #expect(NearestName.distance(String(repeating: "a", count: 100_000), "a") == 63)
  }
}
