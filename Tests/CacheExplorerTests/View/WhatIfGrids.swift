/// The What if screen, whole.
enum WhatIfGrids {
  static let all: [String: String] = [:]
}
