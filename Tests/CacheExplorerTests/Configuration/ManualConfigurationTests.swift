import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel

@Suite struct ReadmeConfigurationTests {
  @Test("the configuration in the README is that of the example it names")
  func readme() throws {
    let readme = try String(contentsOf: Program.root.appending(path: "README.md"), encoding: .utf8)
    let blocks = readme.components(separatedBy: "```yaml\n").dropFirst()
    let block = try #require(blocks.first?.components(separatedBy: "```").first)
    let example = try String(
      contentsOf: Program.root.appending(path: "Examples/memory-disk-network.yaml"), encoding: .utf8)
    #expect(example.hasSuffix(block))
    let configuration = try ConfigurationReader.read(block, file: "README.md", folder: "/tmp")
    #expect(configuration.allLevels.map(\.name) == ["memory", "disk", "pool", "network"])
  }
}
