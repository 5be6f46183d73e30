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
  dependencies: [.package(name: "CacheEngine", path: "..")],
  targets: [
    // What a cache is measured against: the least that could be done, in a module of its own as the engine is.
    .target(name: "Floor", swiftSettings: settings),
    .executableTarget(
      name: "CacheBenchmarks", dependencies: ["Floor", .product(name: "CacheEngine", package: "CacheEngine")],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
