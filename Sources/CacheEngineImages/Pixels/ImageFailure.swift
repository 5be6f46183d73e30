/// Why a codec gave up.
struct ImageFailure: Error {
  var reason: String

  init(_ reason: String) { self.reason = reason }

  static func checkSize(width: Int, height: Int, maximumPixels: Int) throws(ImageFailure) {
    guard width > 0 && height > 0 else { throw ImageFailure("it has no pixels") }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow && pixels <= maximumPixels else {
      throw ImageFailure("it has \(width) × \(height) pixels, more than the \(maximumPixels) allowed")
    }
  }
}
