#if Explorer
import CacheEngine
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// The setting `sharing` of the level `disk`.
struct SharedDiskTests {
  private func read(_ text: String) throws(ConfigurationFailure) -> CacheConfiguration {
    try ConfigurationReader.read(text, file: "c.yaml", folder: "/home/me")
  }

  @Test("a disk level shares its directory if it is told to, and says so among its settings")
  func reads() throws {
    for (word, isShared) in [("exclusive", false), ("acrossProcesses", true)] {
      let configuration = try read("levels: [{ disk: { directory: d, sharing: \(word) } }]")
      var disk = DiskSpecification(directory: "/home/me/d")
      disk.isShared = isShared
      #expect(configuration.levels.first?.kind == .disk(disk))
      #expect(configuration.settings.contains { $0.value == "acrossProcesses" } == isShared)
    }
  }

  @Test("what is no sharing is told, and so is a level above that cannot hear, and a proxy that shares")
  func bad() throws {
    let misspelt = #expect(throws: ConfigurationFailure.self) {
      try read("levels: [{ disk: { directory: d, sharing: acrosProcesses } }]")
    }
    #expect(
      misspelt?.problems.map(\.description) == [
        "c.yaml:1:43: error: “sharing” of disk: there is no sharing “acrosProcesses”; did you mean “acrossProcesses”?"
      ])
    let served = try read("levels: [memory, { disk: { directory: d, sharing: acrossProcesses } }]")
    #expect(served.problemsOfServing(in: "c.yaml").count == 1)
  }
}
#endif
