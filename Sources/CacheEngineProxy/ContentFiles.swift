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

/// Contents that are sent again and again, in files without names, which the system sends as they are.
///
/// On Linux they are in the system's memory, elsewhere in `/tmp`, where nobody can open them.
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
  /// The most contents that the files have room for.
  static let most = fileCount * fileSize / least

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
    var sent: [UInt: Int] = [:]

    func place(of content: Data, _ address: UInt) -> Place? {
      guard let found = known[address], found.content.count == content.count else { return nil }
      return Place(found.file, found.bytes)
    }

    /// Where a content is to be put, if it was sent often enough.
    mutating func room(for content: Data, _ address: UInt) -> (file: File, bytes: Range<Int>)? {
      guard isDue(address), let file = file(for: content.count) else { return nil }
      defer { used += content.count }
      return (file, used..<used + content.count)
    }

    /// Notes that a content was put in a file, which may have left meanwhile.
    mutating func add(_ content: Data, _ address: UInt, in file: File, at bytes: Range<Int>) {
      if files.contains(where: { $0 === file }) { known[address] = (content, file, bytes) }
    }

    private mutating func isDue(_ address: UInt) -> Bool {
      let times = (sent.removeValue(forKey: address) ?? 0) + 1
      if times == ContentFiles.sendings { return true }
      // Of more contents in turn than there is room for, each would only push out another.
      if sent.count == ContentFiles.most { sent = [:] }
      sent[address] = times
      return false
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
    let (place, room) = state.withLock { state in
      let place = state.place(of: content, address)
      return (place, place == nil ? state.room(for: content, address) : nil)
    }
    // Others look up their contents meanwhile.
    guard let (file, bytes) = room, file.write(content, at: bytes.lowerBound) else { return place }
    state.withLock { $0.add(content, address, in: file, at: bytes) }
    return Place(file, bytes)
  }
}
#endif
