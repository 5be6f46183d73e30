/// The exit statuses of the program, for the help and the manual page.
enum ExitStatus {
  static let all: [(status: String, meaning: String)] = [
    ("0", "well"),
    ("1", "an expectation did not hold"),
    (
      "2",
      "wrong usage: an argument, a script or a trace that cannot be understood, or a command that cannot be carried out; "
        + "also output that cannot be written"
    ),
    ("3", "the configuration is not valid, or a level of it cannot be opened"),
    ("4", "there is no usable terminal, and --screen insisted on one"),
    ("5", "an app cannot be reached, or a source, and --strict insisted on it"),
    ("129, 130, 131, 143", "ended by SIGHUP, SIGINT, SIGQUIT or SIGTERM: 128 and the number of the signal"),
    ("141", "nobody reads standard output any more, as behind head: 128 and the number of SIGPIPE"),
  ]

  static var sentence: String { all.map { "\($0.status) \($0.meaning)" }.joined(separator: "; ") + "." }
}
