#if !canImport(ImageIO)
import Foundation

/// What the segments before the picture of a JPEG tell, and the decoder does not.
///
/// Anything out of place ends the reading: the picture is decoded all the same, or fails by itself.
struct JPEGMarkers {
  private(set) var orientation = ImageOrientation.upright

  init(_ data: Data) {
    let bytes = [UInt8](data.prefix(1 << 20))
    var place = 2
    while place + 4 <= bytes.count, bytes[place] == 0xff {
      let marker = bytes[place + 1]
      // Padding, and then the scan, where segments end.
      guard marker != 0xff else {
        place += 1
        continue
      }
      guard marker != 0xda && marker != 0xd9 else { return }
      let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
      let end = place + 2 + length
      guard length >= 2 && end <= bytes.count else { return }
      if marker == 0xe1, let found = Self.orientation(inExif: bytes[(place + 4)..<end]) {
        orientation = found
        return
      }
      place = end
    }
  }

  /// Exif 2.3, sections 4.5 and 4.6: a TIFF header, and the tags of the first directory.
  private static func orientation(inExif segment: ArraySlice<UInt8>) -> ImageOrientation? {
    guard segment.starts(with: Array("Exif\0\0".utf8)) else { return nil }
    let tiff = Array(segment.dropFirst(6))
    let isLittleEndian = tiff.starts(with: Array("II".utf8))
    guard isLittleEndian || tiff.starts(with: Array("MM".utf8)) else { return nil }

    func number(at place: Int, bytes count: Int) -> Int? {
      guard place + count <= tiff.count else { return nil }
      let bytes = tiff[place..<(place + count)]
      return (isLittleEndian ? bytes.reversed() : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }

    guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2) else { return nil }
    for tag in 0..<count {
      let place = directory + 2 + 12 * tag
      guard let name = number(at: place, bytes: 2) else { return nil }
      if name == 0x0112 { return number(at: place + 8, bytes: 2).flatMap(ImageOrientation.init) }
    }
    return nil
  }
}
#endif
