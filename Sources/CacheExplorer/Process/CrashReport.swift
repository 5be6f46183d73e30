import CTerminalGuard

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a crash on a terminal leaves behind: a report in a file, and one line that says where.
///
/// Left to itself, Swift's runtime on Linux prints the report on the terminal that was just given back, and waits there for half
/// a minute for a key.
enum CrashReport {
  /// Says where the report goes; where no folder can be made for it, the runtime does as it would.
  static func prepare(_ environment: [String: String]) {
    let folder = ProgramPaths(environment: environment).crashes
    let time = Int64(Date().timeIntervalSince1970 * 1_000)
    guard
      (try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])) != nil
    else { return }
    _ = unsafe ctg_report_crashes("\(folder)/crash-\(time)-\(ProcessInfo.processInfo.processIdentifier).txt")
  }
}
