/// The exit statuses of the program, for the help and the manual page.
enum ExitStatus {
  static let all: [(status: String, meaning: String)] = [
    ("0", "success"),
    ("1", "an expectation did not hold"),
    (
      "2",
      "wrong usage: an argument, a script or a trace that cannot be understood, or a command that cannot be carried out; "
        + "also output that cannot be written"
    ),
    ("3", "the configuration is not valid, or one of its levels cannot be opened"),
    ("4", "there is no usable terminal, and --screen insisted on one"),
    ("5", "an app cannot be reached, or a source, if --strict insists on it"),
    ("129, 130, 131, 143", "ended by SIGHUP, SIGINT, SIGQUIT or SIGTERM: 128 and the number of the signal"),
    ("141", "nobody reads standard output any more, as when it is piped to head: 128 and the number of SIGPIPE"),
  ]

  static var sentence: String { all.map { "\($0.status) \($0.meaning)" }.joined(separator: "; ") + "." }
}
