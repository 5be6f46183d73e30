import Foundation

/// python-diskcache, measured in a program of its own.
///
/// It times itself; what it prints are nanoseconds an operation, one for each round.
enum PythonDiskCache {
  struct Answer: Decodable {
    var sets: [Double]
    var gets: [Double]
  }

  /// Debian's package is for Debian's Python, which need not be the first one on the path; PyPI's is for that one.
  static func measure(_ directory: String, bytes: Int, keys: Int, rounds: Int) -> Answer? {
    let arguments = ["-c", program, directory, "\(bytes)", "\(keys)", "\(rounds)"]
    return run("/usr/bin/python3", arguments) ?? run("/usr/bin/env", ["python3"] + arguments)
  }

  private static func run(_ path: String, _ arguments: [String]) -> Answer? {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try? JSONDecoder().decode(Answer.self, from: answer)
  }

  private static let program = """
    import sys, os, time, json, random, diskcache
    directory, size, keys, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    cache = diskcache.Cache(directory, size_limit=1 << 30, eviction_policy="least-recently-stored")
    value = os.urandom(size)
    names = ["user:profile:%012d" % number for number in range(keys)]
    random.seed(42)
    random.shuffle(names)
    answer = {"sets": [], "gets": []}
    for turn in range(rounds + 1):
        began = time.perf_counter_ns()
        for name in names: cache.set(name, value)
        middle = time.perf_counter_ns()
        for name in names: assert len(cache.get(name)) == size
        ended = time.perf_counter_ns()
        if turn: answer["sets"].append((middle - began) / keys); answer["gets"].append((ended - middle) / keys)
    print(json.dumps(answer))
    """
}
