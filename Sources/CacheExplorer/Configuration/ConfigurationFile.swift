package import ExplorerCommands

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds and reads configuration files.
package enum ConfigurationFile {
  private static let mostBytes = 1 << 20

  /// Reads a configuration from a file.
  ///
  /// - Throws: ``ConfigurationFailure`` with everything that is wrong.
  package static func load(_ path: String) throws(ConfigurationFailure) -> CacheConfiguration {
    let found: FoundFile
    do throws(FoundFile.Failure) { found = try FoundFile(path) } catch {
      guard path != "-" else {
        throw failure(path, "a configuration is not read from standard input", "write it into a file, and name that")
      }
      guard error.isMissing else {
        throw failure(path, "the file cannot be read (\(error.reason))", "check the path and the permissions along it")
      }
      throw failure(path, "there is no such file", "check the path, or run `cache-explorer demo` for an example")
    }
    guard found.kind != .directory else {
      throw failure(path, "this is a directory", "name the configuration file in it")
    }
    guard found.kind == .ordinary else {
      throw failure(path, "this is no ordinary file", "write the configuration into one, and name that")
    }
    guard found.bytes <= mostBytes else {
      throw failure(path, "the file has \(found.bytes) bytes", "a configuration has at most \(mostBytes)")
    }
    let bytes: Data
    do { bytes = try Data(contentsOf: URL(filePath: path)) } catch {
      throw failure(path, "the file cannot be read\(FoundFile.reason(of: error))", "check its permissions")
    }
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
      throw failure(path, "this is not a text file", "a configuration is YAML or JSON in UTF-8")
    }
    return try ConfigurationReader.read(
      text, file: path, folder: folder(of: path), memory: Int(clamping: ProcessInfo.processInfo.physicalMemory))
  }

  /// Pipes and devices are not, nor are they anything that can be read again.
  package static func isOrdinary(_ path: String) -> Bool { FoundFile.kind(of: path) == .ordinary }

  /// The folder of a file as a path that does not depend on where the program runs.
  private static func folder(of path: String) -> String {
    // By bytes, as the system finds slashes.
    let slash = UInt8(ascii: "/")
    let full = path.utf8.first == slash ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    return String(full[..<(full.utf8.lastIndex(of: slash) ?? full.endIndex)])
  }

  private static func failure(_ path: String, _ message: String, _ remedy: String) -> ConfigurationFailure {
    ConfigurationFailure(problems: [ConfigurationProblem(file: path, message: message, remedy: remedy)])
  }
}
