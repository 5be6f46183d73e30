import Foundation

/// Curves over two logarithmic axes, as an SVG that follows the reader's light or dark page.
struct Plot: Codable {
  let title: String
  let abscissa: String
  let ordinate: String
  private(set) var curves: [String: [Point]] = [:]

  struct Point: Codable {
    let x: Double
    let y: Double
  }

  init(title: String, abscissa: String, ordinate: String) {
    self.title = title
    self.abscissa = abscissa
    self.ordinate = ordinate
  }

  mutating func add(_ curve: String, _ x: Double, _ y: Double) { curves[curve, default: []].append(Point(x: x, y: y)) }

  /// The title as the name of a file.
  var fileName: String {
    let words = title.lowercased().split { !$0.isLetter && !$0.isNumber }
    return "growth-" + words.joined(separator: "-") + ".svg"
  }

  var svg: String {
    let (width, height, left, right, top, bottom) = (640.0, 360.0, 64.0, 24.0, 40.0, 48.0)
    let points = curves.values.flatMap(\.self)
    let x = decades(points.map(\.x))
    let y = decades(points.map(\.y))
    func place(_ point: Point) -> (x: Double, y: Double) {
      (
        left + (log10(point.x) - x.lowerBound) / (x.upperBound - x.lowerBound) * (width - left - right),
        height - bottom - (log10(point.y) - y.lowerBound) / (y.upperBound - y.lowerBound) * (height - top - bottom)
      )
    }
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"640\" height=\"360\" fill=\"#ffffff\"/>",
      "<text x=\"\(left)\" y=\"20\" font-size=\"14\">\(title)</text>",
      "<text x=\"\(width - right)\" y=\"\(height - 8)\" text-anchor=\"end\">\(abscissa)</text>",
      "<text x=\"8\" y=\"34\">\(ordinate)</text>",
    ]
    for exponent in Int(x.lowerBound)...Int(x.upperBound) {
      let at = place(Point(x: pow(10, Double(exponent)), y: pow(10, y.lowerBound)))
      lines.append("<path d=\"M\(short(at.x)) \(top)V\(height - bottom)\" stroke=\"#dddddd\"/>")
      lines.append("<text x=\"\(short(at.x))\" y=\"\(height - 28)\" text-anchor=\"middle\">\(power(exponent))</text>")
    }
    for exponent in Int(y.lowerBound)...Int(y.upperBound) {
      let at = place(Point(x: pow(10, x.lowerBound), y: pow(10, Double(exponent))))
      lines.append("<path d=\"M\(left) \(short(at.y))H\(width - right)\" stroke=\"#dddddd\"/>")
      lines.append("<text x=\"56\" y=\"\(short(at.y + 4))\" text-anchor=\"end\">\(power(exponent))</text>")
    }
    let colours = ["#888888", "#0a66c2", "#c2410a", "#0a8a3a"]
    for (index, name) in curves.keys.sorted().enumerated() {
      let colour = colours[index % colours.count]
      let places = (curves[name] ?? []).map(place)
      let path = places.map { "\(short($0.x)) \(short($0.y))" }.joined(separator: "L")
      lines.append("<path d=\"M\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
      for (place, point) in zip(places, curves[name] ?? []) {
        lines.append("<circle cx=\"\(short(place.x))\" cy=\"\(short(place.y))\" r=\"3\" fill=\"\(colour)\"/>")
        let label = String(format: "%.0f", point.y)
        let above = index == 0 ? 16.0 : -8
        lines.append(
          "<text x=\"\(short(place.x))\" y=\"\(short(place.y + above))\" text-anchor=\"middle\" fill=\"\(colour)\">\(label)</text>"
        )
      }
      lines.append("<text x=\"\(left + 220 + Double(index) * 190)\" y=\"20\" fill=\"\(colour)\">\(name)</text>")
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private func decades(_ values: [Double]) -> ClosedRange<Double> {
    let low = floor(log10(values.min() ?? 1))
    return low...max(low + 1, ceil(log10(values.max() ?? 10)))
  }

  private func power(_ exponent: Int) -> String {
    let units = ["1", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M"]
    return units.indices.contains(exponent) ? units[exponent] : "1e\(exponent)"
  }

  private func short(_ value: Double) -> String { String(format: "%.1f", value) }
}
