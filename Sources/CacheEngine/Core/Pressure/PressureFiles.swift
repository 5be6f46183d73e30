#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where the kernel says how short memory is.
struct PressureFiles: Sendable {
  /// For the whole machine.
  var system = "/proc/pressure/memory"
  /// Which control groups this process is in.
  var groups = "/proc/self/cgroup"
  /// What is mounted where.
  var mounts = "/proc/self/mountinfo"
  /// Opens a file: path, flags.
  var open: @Sendable (String, Int32) -> Int32 = { unsafe openat(AT_FDCWD, $0, $1) }

  /// The directory of this process's control group (version 2), if it can be seen from here.
  var group: String? {
    guard let line = text(of: groups)?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else {
      return nil
    }
    let path = line.dropFirst("0::".count)
    guard !path.split(separator: "/").contains("..") else { return nil }
    for mount in (text(of: mounts) ?? "").split(separator: "\n") {
      // "… root mount-point options - type …": https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
      let words = mount.split(separator: " ")
      guard words.count > 6, let dash = words.dropFirst(6).firstIndex(of: "-"), dash + 1 < words.count,
        words[dash + 1] == "cgroup2"
      else { continue }
      let (root, point) = (words[3], words[4])
      if root == "/" { return path == "/" ? String(point) : "\(point)\(path)" }
      if path == root || path.hasPrefix("\(root)/") { return "\(point)\(path.dropFirst(root.count))" }
    }
    return nil
  }

  /// The text of a file, which is short; `nil` if it cannot be read.
  func text(of path: String) -> String? {
    guard let file = open(path, flags: O_RDONLY) else { return nil }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while text.count < 1 << 20 {
      let count = unsafe read(file.number, &part, part.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      text += part[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Opens a file that is closed when it is released.
  func open(_ path: String, flags: Int32) -> PressureDescriptor? {
    let number = open(path, flags | O_CLOEXEC)
    return number < 0 ? nil : PressureDescriptor(number)
  }
}

/// A descriptor that is closed when the last one who uses it releases it.
final class PressureDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}
#endif
