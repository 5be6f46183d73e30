import Foundation

/// Bytes to store; those of two seeds below 256 differ everywhere.
func value(_ seed: Int, _ count: Int = 300) -> Data {
  Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) })
}
