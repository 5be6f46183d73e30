/// How a trace is played.
struct TraceDrive {
  /// How many requests are under way at once.
  var clients: Int
  /// Simulated latencies and pauses are so many times as short.
  var speed: Double
}
