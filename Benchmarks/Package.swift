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
    .package(name: "CacheEngine", path: ".."),
    // What the bridge is measured with where there is no Combine.
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // What a cache is measured against: the least that could be done, in a module of its own as the engine is.
    .target(name: "Floor", swiftSettings: settings),
    .executableTarget(
      name: "CacheBenchmarks",
      dependencies: [
        "Floor", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineCombine", package: "CacheEngine"),
        .product(
          name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux, .android, .windows])),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
