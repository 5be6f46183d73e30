import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

@Suite struct ManualConfigurationTests {
  @Test("the configuration in the manual is that of the example it names")
  func manual() throws {
    let manual = try String(contentsOf: Program.root.appending(path: "Documentation/Explorer.md"), encoding: .utf8)
    let blocks = manual.components(separatedBy: "```yaml\n").dropFirst()
    let block = try #require(blocks.first?.components(separatedBy: "```").first)
    let example = try String(
      contentsOf: Program.root.appending(path: "Examples/memory-disk-network.yaml"), encoding: .utf8)
    #expect(example.hasSuffix(block))
    let configuration = try ConfigurationReader.read(block, file: "Explorer.md", folder: "/tmp")
    #expect(configuration.allLevels.map(\.name) == ["memory", "disk", "pool", "network"])
  }
}
