import CacheCore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How a store that is only looked at keeps up with the process that writes.
extension SegmentedStore {
  /// Reads what was appended since the store was opened or last read.
  ///
  /// Nothing is written and no lock is taken. A segment that is reclaimed meanwhile stays readable for as long as it is
  /// open here, and what lived in it stands in a newer one.
  ///
  /// - Returns: `false` if this does not continue what is known: then the directory has to be opened again.
  func follow() throws -> Bool {
    let directory = directory
    guard try directory.isInPlace(), try sealing?.isCurrent(in: directory) ?? true else { return false }
    for _ in 0..<16 {
      let (known, lengths) = state.withLock { ($0.segments, $0.lengths.all) }
      let numbers = try directory.names().compactMap { FileName.segment.number(in: $0) }.sorted()
      guard let segments = try open(numbers, known, directory) else { continue }
      if let continues = try take(segments, lengths) { return continues }
    }
    return false
  }

  /// `nil` if a segment went between listing and opening it.
  private func open(_ numbers: [UInt64], _ known: [Segment], _ directory: StoreDirectory) throws -> [Segment]? {
    var segments: [Segment] = []
    for number in numbers {
      if let segment = known.segment(number) {
        segments.append(segment)
        continue
      }
      do {
        let file = try directory.open(Segment.name(number), forWriting: false)
        segments.append(Segment(number: number, file: file, in: directory, among: segmentFiles))
      } catch let failure as SystemFailure where failure.number == ENOENT {
        return nil
      } catch let failure as SystemFailure where OpenedStore.notOurs.contains(failure.number) {
        continue
      }
    }
    return segments
  }

  /// `nil` if somebody else has read on meanwhile, so that this is known already, or out of date.
  private func take(_ segments: [Segment], _ lengths: [UInt64: Int]) throws -> Bool? {
    let reading = ClockReading(clock)
    var scans: [(segment: Segment, scan: SegmentScan)] = []
    var standing: [Segment] = []
    var seenLength = 0
    for segment in segments {
      let size = try segment.file().currentSize()
      let start: Int
      if let length = lengths[segment.number] {
        // What was cut off had been read here.
        guard size >= length else { return false }
        start = length
      } else {
        switch Segment.readHead(try segment.read(Segment.headSize, at: 0), number: segment.number) {
        case .valid(let found) where found == salt: start = Segment.headSize
        // Its head is on its way, and nothing else will tell that it has come.
        case .damaged where segment === segments.last && size < Segment.headSize:
          seenLength = -1
          continue
        default: return false
        }
      }
      standing.append(segment)
      seenLength = size
      let extent = try segment.extent(of: size, salt: salt)
      guard extent > start else { continue }
      scans.append((segment, SegmentScan(try segment.read(extent - start, at: start), from: start, salt: salt)))
    }
    return state.withLock { state in
      guard state.lengths.all == lengths else { return nil }
      let isOneGone = state.segments.contains { standing.segment($0.number) == nil }
      state.segments = standing
      state.seenLength = seenLength
      for segment in standing where state.lengths[segment.number] == nil {
        state.lengths[segment.number] = Segment.headSize
      }
      for (segment, scan) in scans {
        for found in scan.records { state.apply(found, in: segment.number, reading) }
        // A record may still be on its way, so the next look begins where the last whole one ends.
        state.lengths[segment.number] = scan.end
      }
      guard isOneGone else { return true }
      state.lengths.keep { standing.segment($0) != nil }
      // What was worth keeping was copied.
      state.index.removeAll { standing.segment($0.segment) == nil }
      return true
    }
  }

  /// Whether nothing was appended, and no segment came or went, since this was last read.
  func isCurrent() throws -> Bool {
    let directory = directory
    guard try directory.isInPlace() else { return false }
    let (segments, seenLength) = state.withLock { ($0.segments, $0.seenLength) }
    let numbers = Set(try directory.names().compactMap { FileName.segment.number(in: $0) })
    guard let last = segments.last else { return numbers.isEmpty }
    // Only the newest one grows.
    return try segments.allSatisfy { numbers.contains($0.number) } && numbers.allSatisfy { $0 <= last.number }
      && last.file().currentSize() == seenLength
  }
}
