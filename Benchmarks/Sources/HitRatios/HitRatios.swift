import CacheEngine
import CacheEngineHitRatio

/// What every policy makes of recorded and of generated requests.
@main
struct HitRatios {
  private static let usage = """
    usage: HitRatios [--json] [--generated] [--capacities 0.001,0.01,0.1] [--losses] [--speed] [--what-if]
                     [TRACE ...]

    Prints the hit ratio of every policy and of the optimum for each trace, at capacities that are shares of its keys or,
    above 1, entries. A trace is a file of u16 or u32 numbers (by its ending) or a text with a key on each line, also .gz.
    --generated adds requests made by formulas, the same in every run; it is what happens if no trace is given.
    --losses lists where the default loses more than 2.5 points to the best of the others.
    --speed prints how many requests a second a replay gets through.
    --what-if prints in place of that what estimating the answers from live requests costs, and how far off it is;
    --share 0.05 sets the share of the requests' time that it may take, --request 1500 how many nanoseconds one is
    taken to be in place of what it takes here.
    """

  static func main() async {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let isJSON = take("--json", &arguments)
    let isLosses = take("--losses", &arguments)
    let isSpeed = take("--speed", &arguments)
    let isWhatIf = take("--what-if", &arguments)
    var share = 0.05
    if let option = arguments.firstIndex(of: "--share"), option + 1 < arguments.count {
      share = Double(arguments[option + 1]) ?? share
      arguments.removeSubrange(option...option + 1)
    }
    let isGenerated =
      take("--generated", &arguments) || !arguments.contains { !$0.hasPrefix("--") && Double($0) == nil }
    var capacities = [0.001, 0.01, 0.1]
    if let option = arguments.firstIndex(of: "--capacities"), option + 1 < arguments.count {
      capacities = arguments[option + 1].split(separator: ",").compactMap { Double($0) }
      arguments.removeSubrange(option...option + 1)
    }
    var nanoseconds: Double?
    if let option = arguments.firstIndex(of: "--request"), option + 1 < arguments.count {
      nanoseconds = Double(arguments[option + 1])
      arguments.removeSubrange(option...option + 1)
    }
    guard !arguments.contains(where: { $0.hasPrefix("-") }), !capacities.isEmpty, capacities.allSatisfy({ $0 > 0 })
    else {
      return print(usage)
    }
    guard !isWhatIf else { return await whatIf(arguments, isGenerated, share, nanoseconds) }
    var table = HitRatioTable(policies: SimulatedPolicy.allCases)
    do {
      for path in arguments {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        try table.add(name, RequestTrace(contentsOf: path), capacities)
      }
    } catch {
      return print("HitRatios: \(error)")
    }
    let recorded = table.rows.count
    if isGenerated {
      for family in GeneratedRequests.all {
        table.add(family.name, RequestTrace(family.make()), capacities.filter { $0 > 0.001 })
      }
    }
    if isJSON { return print(table.json) }
    print(table.text(recorded: recorded))
    if isLosses { print(table.losses(above: 2.5)) }
    if isSpeed { print(table.speed) }
  }

  private static func whatIf(_ paths: [String], _ isGenerated: Bool, _ share: Double, _ nanoseconds: Double?) async {
    print(WhatIfTable.title)
    do {
      for path in paths {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        print(try await WhatIfTable.line(name, RequestTrace(contentsOf: path), share: share, nanoseconds: nanoseconds))
      }
      guard isGenerated else { return }
      for family in GeneratedRequests.all {
        print(
          try await WhatIfTable.line(family.name, RequestTrace(family.make()), share: share, nanoseconds: nanoseconds))
      }
    } catch { print("HitRatios: \(error)") }
  }

  private static func take(_ flag: String, _ arguments: inout [String]) -> Bool {
    guard let index = arguments.firstIndex(of: flag) else { return false }
    arguments.remove(at: index)
    return true
  }
}
