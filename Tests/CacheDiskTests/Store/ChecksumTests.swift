import CacheEngine
import Testing

@Suite struct ChecksumTests {
  @Test(
    "checksums are those of XXH3, however long the bytes and whatever the processor can do",
    arguments: [
      (0, 0xb029_411f_f43d_84d2), (16, 0x93b3_fa7d_c2d7_c0df), (4_096, 0x2e70_58b4_87ce_7fa0),
      (4_097, 0x7395_e3ea_8a02_6d14), (70_001, 0x634b_1dcc_f24c_3c8c), (1 << 20, 0x0572_d788_bcb0_2ea7),
    ] as [(Int, UInt64)])
  func known(count: Int, checksum: UInt64) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 7) &+ ($0 >> 8)) }
    #expect(Checksum.of(bytes, seed: 42) == checksum)
  }
}
