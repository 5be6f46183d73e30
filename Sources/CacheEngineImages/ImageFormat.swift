import Foundation

/// How images are written.
public enum ImageFormat: Hashable, Sendable {
  /// Without loss, with alpha.
  case png
  /// With loss, without alpha: pixels that are not opaque are laid on white. The quality is from 1 to 100.
  case jpeg(quality: Int)
}

/// The formats that are read, told apart by how they begin.
enum ImageSignature {
  case png
  case jpeg

  init?(_ data: Data) {
    if data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      self = .png
    } else if data.starts(with: [0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else {
      return nil
    }
  }
}
