// The least that a program of Swift and ncurses does, for measure-explorer to compare with: a picture of the same size, a clock, a
// cursor, and with --rate N so many events a second, which another thread counts and whose sum is shown twice a second.

import CNcurses
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

let rate = CommandLine.arguments.drop { $0 != "--rate" }.dropFirst().first.flatMap { Int($0) } ?? 0

enum Events {
  static let counted = Atomic(0)

  static func count(_ rate: Int) {
    while true {
      usleep(10_000)
      counted.wrappingAdd(rate / 100, ordering: .relaxed)
    }
  }
}

nonisolated func begin(_ rate: Int) {
  var thread = pthread_t()
  let argument = UnsafeMutableRawPointer(bitPattern: rate)
  pthread_create(
    &thread, nil,
    {
      Events.count(Int(bitPattern: $0)); return nil
    }, argument)
}

_ = cn_choose_unicode_locale()
guard let window = initscr() else { exit(4) }
cn_prepare()
cbreak()
start_color()
use_default_colors()
init_pair(1, 2, -1)

func write(_ text: String, x: Int32, y: Int32) {
  wmove(window, y, x)
  waddstr(window, text)
}

func clock() -> String {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  let second = now.tv_sec % 86_400
  return [second / 3_600, second / 60 % 60, second % 60].map { ($0 < 10 ? "0" : "") + String($0) }.joined(
    separator: ":")
}

func untilNextTurn() -> Int32 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  let span = rate > 0 ? 500 : 1_000
  return Int32(span - now.tv_nsec / 1_000_000 % span)
}

if rate > 0 { begin(rate) }

let (width, height) = (getmaxx(window), getmaxy(window))
for row in 1..<height - 1 {
  wattr_set(window, 0, row % 3 == 0 ? 1 : 0, nil)
  let line = "│ key:\(row) ● ● ·  1.0 KiB  ██████░░░░ " + String(repeating: "─", count: Int(width))
  write(String(line.prefix(Int(width) - 1)), x: 0, y: row)
}
wattr_set(window, 0, 0, nil)
write("q Quit", x: 0, y: height - 1)
var cursor: Int32 = 1
while true {
  write("\(clock())  \(Events.counted.load(ordering: .relaxed)) events", x: 40, y: 0)
  write("▸", x: 1, y: cursor)
  wrefresh(window)
  var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  guard poll(&input, 1, untilNextTurn()) > 0 else { continue }
  var byte: UInt8 = 0
  guard read(0, &byte, 1) == 1, byte != UInt8(ascii: "q") else { break }
  write(" ", x: 1, y: cursor)
  if byte == UInt8(ascii: "j") { cursor = min(height - 2, cursor + 1) }
  if byte == UInt8(ascii: "k") { cursor = max(1, cursor - 1) }
}
endwin()
