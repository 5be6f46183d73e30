import CacheEngineImages
import Foundation
import Testing

/// Pictures of 16 × 16 in four squares, written by Pillow 13.
enum JPEGFixture {
  /// (200, 30, 40), (20, 180, 60), (30, 60, 220), (240, 240, 230).
  static let color = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoK\
    BggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK\
    Cgr/wAARCAAQABADAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQID\
    AAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlq\
    c3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3\
    +Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
    FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImK\
    kpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwD5\
    Hr8fP9UD6Qr5s/5lz47r/dg/qg/qor/Jc/dD/9k=
    """
  /// The same, progressive, with colours at half the size.
  static let progressive = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoK\
    BggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK\
    Cgr/wgARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABwn/xAAVAQEBAAAAAAAAAAAAAAAAAAADBP/aAAwDAQACEAMQ\
    AAABI0gdqpWH/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQABBQIf/8QAHxEAAgECBwAAAAAAAAAAAAAAERITAAUGFBciQWFy/9oA\
    CAEDAQE/AccXLUvL7YIG5dnXwAnZNf/EAB4RAAECBwEAAAAAAAAAAAAAABIGEQABExYkQlFi/9oACAECAQE/AVagbeo5BmWjMw+p9j//\
    xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAY/Ah//xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAE/IR//2gAMAwEAAgADAAAA\
    EA//xAAYEQACAwAAAAAAAAAAAAAAAAARIVHw8f/aAAgBAwEBPxC564wAH//EABkRAQACAwAAAAAAAAAAAAAAABEhQWFx8P/aAAgBAgEB\
    PxDj5Wd1C2P/xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAE/EB//2Q==
    """
  /// 10, 90, 170, 250.
  static let gray = """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoK\
    BggLDAsKDAkKCgr/wAALCAAQABABAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8A\
    CcoBQCgP/9k=
    """
  /// Red, green, blue and a middle gray in ink, stored as Adobe does.
  static let cmyk = """
    /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwACAQEBAQECAQEBAgICAgIEAwICAgIFBAQDBAYFBgYGBQYGBgcJCAYHCQcGBggLCAkKCgoKCgYI\
    CwwLCgwJCgoK/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAoACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/\
    2gAOBEMATQBZAEsAAD8A38H/AB/2/gAZ/iSADP8AEf4f4h/3/9k=
    """

  static func data(_ base64: String) throws -> Data { try #require(Data(base64Encoded: base64)) }

  /// The picture with an Exif segment that says how the camera was held.
  static func turned(_ orientation: UInt8, isLittleEndian: Bool, _ file: Data) -> Data {
    let number: (Int, Int) -> [UInt8] = { value, count in
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isLittleEndian ? bytes : bytes.reversed()
    }
    var exif = Array("Exif\0\0".utf8) + Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
    exif += number(2, 2)
    exif += number(0x0100, 2) + number(4, 2) + number(1, 4) + number(16, 4)
    exif += number(0x0112, 2) + number(3, 2) + number(1, 4) + number(Int(orientation), 2) + [0, 0] + number(0, 4)
    return file.prefix(2) + Data([0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif) + file.dropFirst(2)
  }
}

extension PixelBuffer {
  func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(bytes[(4 * (y * width + x))...].prefix(4)) }

  /// The pixels in the middle of the four quarters.
  var quarters: [[UInt8]] {
    [(1, 1), (3, 1), (1, 3), (3, 3)].map { pixel(width * $0 / 4, height * $1 / 4) }
  }
}

/// Whether no channel is further off than some values.
func isNear(_ left: [[UInt8]], _ right: [[UInt8]], by tolerance: Int) -> Bool {
  zip(left.joined(), right.joined()).allSatisfy { abs(Int($0) - Int($1)) <= tolerance } && left.count == right.count
}
