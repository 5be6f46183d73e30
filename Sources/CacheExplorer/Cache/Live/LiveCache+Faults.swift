import CacheEngine
import CacheEngineTesting
import ExplorerText

extension Fault {
  /// What goes wrong, in a few words; `nil` for nothing.
  package var told: String? {
    if isDown { return "down" }
    var parts: [String] = []
    if errors > 0 { parts.append("error \(Format.number((errors * 10_000).rounded() / 100))%") }
    if let latency {
      let (least, most) = (Quantity.text(latency.lowerBound), Quantity.text(latency.upperBound))
      parts.append("latency \(least == most ? least : "\(least)..\(most)")")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension LiveCache.Level {
  /// What goes wrong in it on purpose, in a few words; `nil` for nothing.
  var fault: String? {
    let isDeaf = shared?.isDeaf() == true && !faults.fault.isDown
    let parts = [faults.fault.told, isDeaf ? "deaf" : nil].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension LiveCache {
  /// What goes wrong in each level on purpose, by name.
  package var faults: [String: String] {
    levels.reduce(into: [:]) { faults, level in faults[level.name] = level.fault }
  }
}
