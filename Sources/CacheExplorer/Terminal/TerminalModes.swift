// Glibc's own module has no termios.h; it comes with term.h.
import CNcurses
import CTerminalGuard
import ExplorerText

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The modes of a terminal device as they were found, and its size.
///
/// curses draws into memory here and never meets the device, so this sets the modes that curses would.
struct TerminalModes {
  /// Larger than any real terminal; a device may say anything.
  static let maximum = Size(width: 1000, height: 500)

  private let descriptor: Int32
  private let found: termios

  init(descriptor: Int32) throws(TerminalError) {
    var modes = termios()
    guard unsafe tcgetattr(descriptor, &modes) == 0 else {
      throw .failed(operation: "reading its modes", reason: SystemFailure.text(errno))
    }
    self.descriptor = descriptor
    found = modes
  }

  /// Every key comes at once, unechoed and untranslated; ^C, ^Z and ^S are keys like others.
  func makeRaw() throws(TerminalError) {
    var raw = found
    raw.c_iflag &= ~tcflag_t(BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON)
    raw.c_oflag &= ~tcflag_t(OPOST)
    raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    raw.c_cflag = (raw.c_cflag & ~tcflag_t(CSIZE | PARENB)) | tcflag_t(CS8)
    unsafe withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      unsafe bytes[Int(VMIN)] = 1
      unsafe bytes[Int(VTIME)] = 0
    }
    while unsafe ctg_set_modes(descriptor, &raw) != 0 {
      guard errno == EINTR else {
        throw .failed(operation: "setting its modes", reason: SystemFailure.text(errno))
      }
    }
  }

  /// Sets the modes as they were found.
  ///
  /// At once: draining first would hang on a terminal that takes nothing any more. All our output is written by now, and
  /// how a line ends is settled when it is written.
  func restore() {
    // In the background the modes are somebody else's.
    guard ctg_in_foreground(descriptor) else { return }
    var modes = found
    while unsafe ctg_set_modes(descriptor, &modes) != 0, errno == EINTR {}
  }

  /// The size of the window on a terminal, within sensible limits.
  static func size(of descriptor: Int32, environment: [String: String]) -> Size {
    var window = winsize()
    if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window) != 0 { window = winsize() }
    return size(columns: Int(window.ws_col), rows: Int(window.ws_row), environment: environment)
  }

  /// A device that does not know its size says 0.
  static func size(columns: Int, rows: Int, environment: [String: String]) -> Size {
    func sensible(_ value: Int, _ variable: String, _ usual: Int, _ maximum: Int) -> Int {
      if value > 0 { return min(value, maximum) }
      if let stated = environment[variable].flatMap({ Int($0) }), stated > 0 { return min(stated, maximum) }
      return usual
    }
    return Size(
      width: sensible(columns, "COLUMNS", 80, maximum.width), height: sensible(rows, "LINES", 24, maximum.height))
  }
}

enum SystemFailure {
  static func text(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
