import CacheEngine
import CacheEngineHitRatio
import ExplorerState
import ExplorerText

/// The curves as a picture of its own, without scripts or fonts from elsewhere.
extension CurveReport {
  private static let colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f"]
  private static let (left, top, width, height) = (64.0, 56.0, 640.0, 360.0)

  var svg: String {
    var lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 480" font-family="sans-serif" font-size="12">"#,
      #"<rect width="840" height="480" fill="white"/>"#,
      #"<text x="64" y="24" font-size="15">Miss ratio of \#(Self.escaped(level.name)), \#(Self.escaped(trace))</text>"#,
      #"<text x="64" y="42" fill="dimgray">\#(Self.escaped(advice))</text>"#,
    ]
    for tenth in stride(from: 0, through: 10, by: 2) {
      let y = Self.number(Self.top + Self.height * (1 - Double(tenth) / 10))
      lines.append(#"<line x1="64" y1="\#(y)" x2="704" y2="\#(y)" stroke="lightgray"/>"#)
      lines.append(#"<text x="56" y="\#(y)" text-anchor="end" dominant-baseline="middle">\#(tenth * 10)%</text>"#)
    }
    let bottom = Self.top + Self.height
    for (index, capacity) in curve.capacities.enumerated() where isMarked(index) {
      let x = Self.number(x(capacity))
      lines.append(#"<line x1="\#(x)" y1="\#(bottom)" x2="\#(x)" y2="\#(bottom + 5)" stroke="dimgray"/>"#)
      lines.append(
        #"<text x="\#(x)" y="\#(bottom + 20)" text-anchor="middle">\#(Self.escaped(mark(capacity)))</text>"#)
    }
    let here = Self.number(x(level.capacity))
    lines.append(
      #"<line x1="\#(here)" y1="56" x2="\#(here)" y2="\#(bottom)" stroke="dimgray" stroke-dasharray="4 4"/>"#)
    let unit = level.unit == .cost ? "bytes" : "entries"
    lines.append(
      #"<text x="384" y="\#(bottom + 44)" text-anchor="middle">capacity (\#(unit)), each step twice the one before</text>"#
    )
    for (index, policy) in policies.enumerated() { lines += line(policy, index) }
    lines.append("</svg>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ policy: SimulatedPolicy, _ index: Int) -> [String] {
    let isBound = policy == .optimum
    let color = isBound ? "#000000" : Self.colors[index % Self.colors.count]
    let points = curve.capacities.indices.map { place in
      let y = Self.top + Self.height * (1 - (1 - ratio(policy, place)))
      // Misses grow upwards: all of them are at the top.
      return "\(Self.number(x(curve.capacities[place]))),\(Self.number(2 * Self.top + Self.height - y))"
    }
    let dash = isBound ? #" stroke-dasharray="2 3""# : ""
    let y = 70 + 20 * index
    let name = Self.escaped(policy.rawValue) + (policy == inUse ? " (in use)" : "")
    return [
      #"<polyline fill="none" stroke="\#(color)" stroke-width="\#(policy == inUse ? 3 : 1.5)"\#(dash) points="\#(points.joined(separator: " "))"/>"#,
      #"<line x1="720" y1="\#(y)" x2="744" y2="\#(y)" stroke="\#(color)" stroke-width="\#(policy == inUse ? 3 : 1.5)"\#(dash)/>"#,
      #"<text x="750" y="\#(y)" dominant-baseline="middle">\#(name)</text>"#,
    ]
  }

  /// Each doubling of the capacity in use has its mark.
  private func isMarked(_ index: Int) -> Bool {
    let factor = Double(curve.capacities[index]) / Double(max(1, level.capacity))
    let power = log2(factor)
    return abs(power - power.rounded()) < 0.02
  }

  private func mark(_ capacity: Int) -> String {
    level.unit == .cost ? Format.bytes(capacity) : Format.short(capacity)
  }

  private func x(_ capacity: Int) -> Double {
    let (least, most) = (Double(curve.capacities.first ?? 1), Double(curve.capacities.last ?? 1))
    guard most > least else { return Self.left + Self.width / 2 }
    return Self.left + Self.width * log2(Double(capacity) / least) / log2(most / least)
  }

  private static func number(_ value: Double) -> String { WhatIfText.tenths(value) }

  private static func escaped(_ text: String) -> String { harmless(text).escapedForXML }
}

#if canImport(Glibc)
import func Glibc.log2
#elseif canImport(Musl)
import func Musl.log2
#elseif canImport(Darwin)
import func Darwin.log2
#endif
