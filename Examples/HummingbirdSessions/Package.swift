// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who builds CacheEngine has to fetch a web framework.
let package = Package(
  name: "HummingbirdSessions",
  platforms: [.macOS(.v15)],
  products: [.library(name: "HummingbirdSessions", targets: ["HummingbirdSessions"])],
  dependencies: [
    .package(name: "CacheEngine", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    // Ends the application in its tests. HummingbirdTesting would, too, and has a TLS library to build.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ],
  targets: [
    .target(
      name: "HummingbirdSessions",
      dependencies: [
        .product(name: "CacheEngine", package: "CacheEngine"), .product(name: "Hummingbird", package: "hummingbird"),
      ]),
    .testTarget(
      name: "HummingbirdSessionsTests",
      dependencies: [
        "HummingbirdSessions", .product(name: "CacheEngine", package: "CacheEngine"),
        .product(name: "CacheEngineTesting", package: "CacheEngine"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ])
