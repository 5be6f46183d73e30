// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "CacheEngine", path: "..", traits: ["Combine", "Redis"]),
    // What the bridge is measured with where there is no Combine.
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    // The floor of what is built on it.
    .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
  ],
  targets: [
    // What a cache is measured against: the least that could be done, in a module of its own as the engine is.
    .target(name: "Floor", swiftSettings: settings),
    .target(name: "CFloor", cSettings: [.unsafeFlags(["-O2"])]),
    .executableTarget(
      name: "CacheBenchmarks",
      dependencies: [
        "Floor", "CFloor", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineCombine", package: "CacheEngine"),
        .product(name: "CacheEngineModels", package: "CacheEngine"),
        .product(name: "CacheEngineNetwork", package: "CacheEngine"),
        .product(name: "CacheEngineInspector", package: "CacheEngine"),
        .product(name: "CacheEngineTesting", package: "CacheEngine"),
        .product(
          name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux, .android, .windows])),
      ],
      swiftSettings: settings),
    // The disk level beside what people use in its place; a program of its own, so that only who runs it needs them.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"])]),
    .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"])]),
    .executableTarget(
      name: "DiskBenchmarks",
      dependencies: [
        "CSQLite", "CLMDB", "CLevelDB", "CRocksDB", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineTesting", package: "CacheEngine"),
      ],
      swiftSettings: settings),
    // A directory that processes share.
    .executableTarget(
      name: "SharedBenchmarks", dependencies: [.product(name: "CacheEngine", package: "CacheEngine")],
      swiftSettings: settings),
    // The client of Redis beside one in C, and memory that hears of changes beside memory that does not.
    .executableTarget(
      name: "RedisBenchmarks",
      dependencies: [
        "CFloor", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineRedis", package: "CacheEngine"),
        .product(name: "CacheEngineShared", package: "CacheEngine"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
    // Instructions an operation, which do not depend on what else the machine does. Only callgrind can run it.
    .target(name: "CCallgrind"),
    .executableTarget(
      name: "InstructionCounts",
      dependencies: [
        "CCallgrind", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineTesting", package: "CacheEngine"),
      ],
      swiftSettings: settings),
    // What every eviction policy makes of traces.
    .executableTarget(
      name: "HitRatios",
      dependencies: [
        .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineHitRatio", package: "CacheEngine"),
        .product(name: "CacheEngineTesting", package: "CacheEngine"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
