import ExplorerTerminal

/// Where the program begins.
@main
enum Program {
  @MainActor
  static func main() {
    StandardStreams.holdPlaces()
    #if Explorer
    StandardStreams.ignoreSignalsOfWrites()
    Interruption.releaseQuit()
    EventLoops.fit()
    Task { await CacheExplorer.main() }
    MainLoop.run()
    #else
    StandardStreams.complain(
      "error: this build has no explorer in it; build it with `make run`, or with --traits Explorer")
    StandardStreams.exit(ProgramFailure.Status.usage.rawValue)
    #endif
  }
}
