import Foundation
import Testing

/// What must not compile, shown to the compiler.
@Suite(.timeLimit(.minutes(10))) struct CompositionTypesTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What the compiler says of a line of code that uses the library; empty if it compiles.
  private func errors(in line: String) throws -> String {
    let products = try #require(Self.products, "the tests do not run from a build directory")
    let folder = FileManager.default.temporaryDirectory.appending(path: "types-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Snippet.swift")
    let source = """
      import CacheEngine
      typealias Names = MemoryCacheLevel<String, String>
      typealias Lengths = MemoryCacheLevel<String, Int>
      typealias Numbered = MemoryCacheLevel<Int, String>
      func compose(_ names: Names, _ others: Names, _ lengths: Lengths, _ numbered: Numbered) {
        \(line)
      }
      """
    try Data(source.utf8).write(to: file)
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      ["swiftc", "-typecheck", "-swift-version", "6", "-I", products.appending(path: "Modules").path]
      + ["CCurl", "CZlib"].flatMap { ["-I", Self.root.appending(path: "Sources/\($0)").path] }
      + ["-Xcc", "-fmodule-map-file=\(products.path)/CStore.build/module.modulemap", file.path]
    let output = folder.appending(path: "errors.txt")
    try Data().write(to: output)
    compiler.standardError = try FileHandle(forWritingTo: output)
    compiler.standardOutput = FileHandle.nullDevice
    try compiler.run()
    compiler.waitUntilExit()
    return compiler.terminationStatus == 0 ? "" : try String(contentsOf: output, encoding: .utf8)
  }

  private static var products: URL? {
    var folder = URL(filePath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
    while folder.path != "/" {
      if FileManager.default.fileExists(atPath: folder.appending(path: "Modules/CacheEngine.swiftmodule").path) {
        return folder
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }

  @Test("C29 levels of different key or value types compile together only with a transformation between them")
  func types() throws {
    let complaint = "requires the types 'String' and 'Int' be equivalent"
    #expect(try errors(in: "_ = names.compose(others)") == "")
    #expect(try errors(in: "_ = names.compose(numbered.transformKeys { (key: String) in key.count })") == "")
    #expect(try errors(in: "_ = names.compose(numbered)").contains(complaint))
    #expect(try errors(in: "_ = names.compose(lengths)").contains(complaint))
  }
}
