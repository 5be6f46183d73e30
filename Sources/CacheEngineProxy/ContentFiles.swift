#if Proxy
private import CStore
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Contents that are sent again and again, in files without names in the system's memory, which the system sends as they are.
///
/// What is sent from the memory of the program is copied twice, and the second copy, the system's, goes through as much memory as all
/// clients have yet to take. For 64 KiB that takes longer than the rest of a hit.
///
/// A content is known by its address, and is kept as long as its file, so that no other content can have that address.
final class ContentFiles: Sendable {
  /// For less, one more call of the system takes as long as copying.
  static let least = 32 << 10
  /// A content is put in a file when it is sent for the sixteenth time: putting it there takes about as long as sending it, so that
  /// contents which are soon forgotten again cost a sixteenth more at most.
  static let sendings = 16
  static let fileSize = 4 << 20
  static let fileCount = 8

  /// Where a content is, for one client that it is sent to.
  ///
  /// Its file is open for as long as this is kept. The handle is its own: one that sends to two clients at once fails (EBUSY).
  final class Place: Sendable {
    let region: FileRegion
    private let file: File

    fileprivate init(_ file: File, _ bytes: Range<Int>) {
      self.file = file
      let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
      region = FileRegion(fileHandle: handle, readerIndex: bytes.lowerBound, endIndex: bytes.upperBound)
    }

    // The descriptor is closed by the file.
    deinit { _ = try? region.fileHandle.takeDescriptorOwnership() }
  }

  fileprivate final class File: Sendable {
    let descriptor: CInt

    init?() {
      let descriptor = cstore_nameless_file()
      guard descriptor >= 0 else { return nil }
      self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func write(_ content: Data, at offset: Int) -> Bool {
      let written = unsafe content.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      return written == content.count
    }
  }

  private struct State {
    var known: [UInt: (content: Data, file: File, bytes: Range<Int>)] = [:]
    /// The oldest first.
    var files: [File] = []
    /// How much of the youngest is used.
    var used = 0
    /// How often contents were sent of late, by their addresses.
    var sent = [(address: UInt, times: Int)](repeating: (0, 0), count: 256)

    mutating func place(of content: Data, _ address: UInt) -> Place? {
      if let found = known[address], found.content.count == content.count {
        return Place(found.file, found.bytes)
      }
      guard isDue(address), let file = file(for: content.count), file.write(content, at: used) else { return nil }
      let bytes = used..<used + content.count
      used = bytes.upperBound
      known[address] = (content, file, bytes)
      return Place(file, bytes)
    }

    private mutating func isDue(_ address: UInt) -> Bool {
      let slot = Int((UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 56)
      if sent[slot].address != address { sent[slot] = (address, 0) }
      sent[slot].times += 1
      return sent[slot].times.isMultiple(of: ContentFiles.sendings)
    }

    private mutating func file(for length: Int) -> File? {
      if let file = files.last, used + length <= ContentFiles.fileSize { return file }
      guard let file = File() else { return nil }
      files.append(file)
      used = 0
      if files.count > ContentFiles.fileCount {
        let oldest = files.removeFirst()
        known = known.filter { $0.value.file !== oldest }
      }
      return file
    }
  }

  private let state = Mutex(State())

  /// Where a content that is to be sent is, if it is in a file.
  func place(of content: Data) -> Place? {
    guard (Self.least...Self.fileSize).contains(content.count) else { return nil }
    let address = unsafe content.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    return state.withLock { $0.place(of: content, address) }
  }
}
#endif
