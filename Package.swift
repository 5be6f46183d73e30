// swift-tools-version: 6.2
import PackageDescription

// Every target of ours is checked alike. SwiftPM drops the warning settings of packages that it fetched from
// afar, so treating warnings as errors here breaks nobody who depends on the library.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// Where publishers are OpenCombine's. Apple platforms have Combine.
let withoutCombine: [Platform] = [.linux, .android, .windows]

// Homebrew keeps its ncurses apart, where pkg-config finds it. Elsewhere it lies in the way, and pkg-config would only warn of
// flags that SwiftPM does not take.
#if os(macOS)
  let ncursesw: String? = "ncursesw"
#else
  let ncursesw: String? = nil
#endif

let package = Package(
  name: "CacheEngine",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CacheEngine", targets: ["CacheEngine"]),
    .library(name: "CacheEngineImages", targets: ["CacheEngineImages"]),
    .library(name: "CacheEngineCombine", targets: ["CacheEngineCombine"]),
    .library(name: "CacheEngineEncryption", targets: ["CacheEngineEncryption"]),
    .library(name: "CacheEngineInspector", targets: ["CacheEngineInspector"]),
    .library(name: "CacheEngineTesting", targets: ["CacheEngineTesting"]),
    .library(name: "CacheEngineRedis", targets: ["CacheEngineRedis"]),
    .executable(name: "cache-explorer", targets: ["CacheExplorer"]),
  ],
  traits: [
    .trait(name: "Redis", description: "CacheEngineRedis: a level in Redis or Valkey that many processes share")
  ],
  dependencies: [
    // The engine's log goes where the application's log goes. Small, and most servers have it already.
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // CacheEngineCombine only, and only where there is no Combine.
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    // CacheEngineEncryption only. Apple's CryptoKit under its own names, and BoringSSL where there is none: authenticated
    // encryption is nothing to write oneself. It builds for minutes, so nothing that the explorer needs depends on it.
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    // CacheEngineRedis only, and only with the trait Redis: one connection that many tasks share needs an event loop.
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    // The explorer only: arguments with help, suggestions and shell completions; YAML with line and column.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CNcurses", pkgConfig: ncursesw, providers: [.apt(["libncurses-dev"]), .brew(["ncurses"])]),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
    .target(name: "CStore"),
    .target(name: "CTerminalGuard"),
    .target(
      name: "CacheEngine",
      dependencies: [
        "CStore", "CZlib",
        .target(name: "CCurl", condition: .when(platforms: [.linux])),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    // A library of its own, so that only who wants images needs the codecs.
    .target(
      name: "CacheEngineImages",
      dependencies: [
        "CacheEngine",
        .target(name: "CPNG", condition: .when(platforms: [.linux])),
        .target(name: "CTurboJPEG", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineCombine",
      dependencies: [
        "CacheEngine",
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: withoutCombine)),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineEncryption",
      dependencies: ["CacheEngine", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: strict),
    // A library of its own, so that only who lets others look into a running app has sockets and a protocol in it.
    .target(name: "CacheEngineInspector", dependencies: ["CacheEngine"], swiftSettings: strict),
    .target(name: "CacheEngineTesting", dependencies: ["CacheEngine"], swiftSettings: strict),
    // Without its trait an empty library, so that who does not want Redis neither fetches nor builds an event loop.
    .target(
      name: "CacheEngineRedis",
      dependencies: [
        "CacheEngine",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "CacheExplorer",
      dependencies: [
        "CacheEngine", "CacheEngineInspector", "CacheEngineTesting", "CNcurses", "CTerminalGuard",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: strict),
    // An app to attach to, and how one is written; not a product.
    .executableTarget(
      name: "AttachedApp", dependencies: ["CacheEngine", "CacheEngineInspector"], path: "Examples/AttachedApp",
      swiftSettings: strict),
    // Kills disk levels and looks at what is left; not a product.
    .executableTarget(
      name: "CacheTorture",
      dependencies: [
        "CacheEngine", "CacheEngineTesting", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheTortureTests", dependencies: ["CacheTorture", "CacheEngine", "CacheEngineTesting"],
      swiftSettings: strict),
    // An HTTP server for the tests, which misbehaves on demand. Not a product.
    .target(name: "LoopbackServer", path: "Tests/LoopbackServer", swiftSettings: strict),
    .testTarget(
      name: "CacheEngineTests", dependencies: ["CacheEngine", "CacheEngineTesting", "LoopbackServer"],
      resources: [.copy("Eviction/Traces"), .copy("Store/Formats")],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineInspectorTests", dependencies: ["CacheEngineInspector", "CacheEngine", "CacheEngineTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineImagesTests", dependencies: ["LoopbackServer", "CacheEngineImages", "CacheEngine"],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineCombineTests",
      dependencies: [
        "CacheEngineCombine", "CacheEngine", "CacheEngineTesting",
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: withoutCombine)),
        .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(platforms: withoutCombine)),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineEncryptionTests",
      dependencies: [
        "CacheEngineEncryption", "CacheEngine", "CacheEngineTesting", .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineRedisTests",
      dependencies: [
        "CacheEngineRedis", "CacheEngine", "CacheEngineTesting",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
      ],
      swiftSettings: strict),
    // Every parser of foreign bytes, run on the files in its folder Corpus; make fuzz makes up more.
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "CacheEngine", "CacheEngineImages", "CacheEngineInspector", "CacheEngineTesting", "CacheExplorer",
      ],
      exclude: ["Corpus", "Fuzzer.swift"], swiftSettings: strict),
    // Runs a program on a terminal of its own and looks at its screen; for tests only.
    .target(name: "CPseudoTerminal", path: "Tests/PseudoTerminal/C"),
    .target(
      name: "PseudoTerminal", dependencies: ["CPseudoTerminal"], path: "Tests/PseudoTerminal/Swift",
      swiftSettings: strict),
    .testTarget(
      name: "CacheExplorerTests",
      dependencies: [
        "CacheExplorer", "CacheEngine", "CacheEngineEncryption", "CacheEngineInspector", "CacheEngineTesting",
        "LoopbackServer", "PseudoTerminal", "CPseudoTerminal", "AttachedApp",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// make fuzz builds the sources of FuzzTests into one program with libFuzzer, whose `main` it has, and nothing else.
if Context.environment["CACHEENGINE_FUZZ"] != nil {
  package.products = []
  package.targets.removeAll { $0.isTest || $0.name == "CacheEngineEncryption" }
  for (place, target) in package.targets.enumerated() where target.name == "CacheExplorer" {
    package.targets[place] = .target(
      name: target.name, dependencies: target.dependencies,
      swiftSettings: strict + [
        .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "explorer_main"])
      ])
  }
  package.targets.append(
    .executableTarget(
      name: "CacheFuzzer",
      dependencies: [
        "CacheEngine", "CacheEngineImages", "CacheEngineInspector", "CacheEngineTesting", "CacheExplorer",
      ],
      path: "Tests/FuzzTests", exclude: ["Corpus", "FuzzCorpusTests.swift"],
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
  for target in package.targets { target.swiftSettings?.append(.define("CACHEENGINE_FUZZ")) }
}
