import CacheEngineTesting
import CacheEngine
import CacheEngineTransformers
import Foundation
import Testing

@Suite struct CompressionTransformerTests {
  private func bytes(_ count: Int, seed: UInt64) -> Data {
    var random = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8.random(in: 0..<16, using: &random) })
  }

  private func code(of work: () async throws -> Data) async -> CacheError.Code? {
    await #expect(throws: CacheError.self) { try await work() }?.code
  }

  @Test("C106 what is compressed becomes the same bytes again", arguments: [CompressionTransformer.Format.gzip, .zlib])
  func roundTrips(_ format: CompressionTransformer.Format) async throws {
    for count in [0, 1, 65_535, 65_536, 65_537, (1 << 20) + 1] {
      let plain = bytes(count, seed: UInt64(count))
      for level in [0, 1, 6, 9] {
        let transformer = CompressionTransformer(format, level: level)
        let compressed = try await transformer.inverseTransform(plain)
        #expect(try await transformer.transform(compressed) == plain)
        if level > 0 && count > 1_000 { #expect(compressed.count < plain.count * 2 / 3) }
      }
    }
  }

  @Test("C106 bytes that other programs compressed are read")
  func foreign() async throws {
    let text = Data("the quick brown fox jumps over the lazy dog\n".utf8)
    let gzip = try #require(
      Data(base64Encoded: "H4sIAAAAAAACAyvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp3MBAL/ewygsAAAA"))
    let zlib = try #require(Data(base64Encoded: "eJwryUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5KdzAQBxQBAE"))
    #expect(try await CompressionTransformer(.gzip).transform(gzip) == text)
    #expect(try await CompressionTransformer(.zlib).transform(zlib) == text)
    #expect(await code { try await CompressionTransformer(.zlib).transform(gzip) } == .invalidCachedData)
    #expect(await code { try await CompressionTransformer(.gzip).transform(zlib) } == .invalidCachedData)
    let withDictionary = try #require(Data(base64Encoded: "eLtHjgc0K8EUUsgqzS0oVsgvSy1SAEnnJFZVKqTkp3MBAHFAEAQ="))
    #expect(await code { try await CompressionTransformer(.zlib).transform(withDictionary) } == .invalidCachedData)
  }

  @Test("C106 a slice of larger data is read where it lies")
  func slices() async throws {
    let transformer = CompressionTransformer(.gzip)
    let compressed = try await transformer.inverseTransform(bytes(1_000, seed: 1))
    let framed = Data([1, 2, 3]) + compressed + Data([4])
    #expect(try await transformer.transform(framed[3..<(3 + compressed.count)]) == bytes(1_000, seed: 1))
  }

  @Test(
    "C106 every cut fails, and so does anything after the end", arguments: [CompressionTransformer.Format.gzip, .zlib])
  func cutAndTrailing(_ format: CompressionTransformer.Format) async throws {
    let transformer = CompressionTransformer(format)
    let compressed = try await transformer.inverseTransform(bytes(300, seed: 2))
    for count in 0..<compressed.count {
      #expect(await code { try await transformer.transform(compressed.prefix(count)) } == .invalidCachedData)
    }
    // Another gzip member belongs to the value; see below.
    for trailing in [Data([0]), Data([0x1f]), compressed.prefix(20)] + (format == .zlib ? [compressed] : []) {
      #expect(await code { try await transformer.transform(compressed + trailing) } == .invalidCachedData)
    }
  }

  @Test("Gzip members in a row are one value, wherever pieces are cut, and the maximum holds for all together")
  func members() async throws {
    let plain = bytes(300, seed: 7)
    let one = try await CompressionTransformer(.gzip).inverseTransform(plain)
    let empty = try await CompressionTransformer(.gzip).inverseTransform(Data())
    #expect(try await CompressionTransformer(.gzip).transform(one + empty + one + empty) == plain + plain)
    // zlib is fed a MiB at a time: members that end before, on and after that border.
    let stored = CompressionTransformer(.gzip, level: 0)
    let middle = bytes((1 << 20) - 200, seed: 8)
    let second = try await stored.inverseTransform(middle)
    var ends: Set<Int> = []
    for count in 0..<100 {
      let first = try await stored.inverseTransform(bytes(count, seed: 9))
      ends.insert(first.count + second.count)
      #expect(try await stored.transform(first + second + one) == bytes(count, seed: 9) + middle + plain)
    }
    #expect(ends.isSuperset(of: (1 << 20) - 1...(1 << 20) + 1))
    let bounded = CompressionTransformer(.gzip, maximumSize: 599)
    #expect(try await bounded.transform(one) == plain)
    #expect(await code { try await bounded.transform(one + one) } == .invalidCachedData)
    let many = (0..<10_000).reduce(into: Data()) { data, _ in data += empty }
    #expect(try await CompressionTransformer(.gzip, maximumSize: 0).transform(many).isEmpty)
  }

  @Test("C106 a value over the maximum is neither decompressed nor compressed")
  func bomb() async throws {
    let bomb = try await CompressionTransformer(.gzip, level: 9).inverseTransform(Data(count: 32 << 20))
    #expect(bomb.count < 64 << 10)
    let small = CompressionTransformer(.gzip, maximumSize: (32 << 20) - 1)
    #expect(await code { try await small.transform(bomb) } == .invalidCachedData)
    #expect(await code { try await small.inverseTransform(Data(count: 32 << 20)) } == .encodingFailed)
    let large = CompressionTransformer(.gzip, maximumSize: 32 << 20)
    #expect(try await large.transform(bomb).count == 32 << 20)
    #expect(try await large.inverseTransform(Data(count: 32 << 20)).count < 64 << 10)
  }

  @Test("C106 a cancelled task stops")
  func cancels() async {
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await CompressionTransformer(.gzip).inverseTransform(Data(count: 1 << 20))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test(
    "C106 damage never passes as a value: the checksum tells", arguments: [CompressionTransformer.Format.gzip, .zlib])
  func fuzz(_ format: CompressionTransformer.Format) async throws {
    var random = SeededGenerator(seed: 5)
    let plain = bytes(2_000, seed: 3)
    let transformer = CompressionTransformer(format, maximumSize: 1 << 20)
    let valid = try await transformer.inverseTransform(plain)
    for _ in 0..<2_000 {
      var damaged = valid
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        damaged[Int.random(in: damaged.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      do {
        // Damage to the fields of a gzip header that nothing checks (time, system) does not touch the value.
        #expect(try await transformer.transform(damaged) == plain)
      } catch let error as CacheError {
        #expect(error.code == .invalidCachedData)
      }
    }
  }
}
