// swift-tools-version: 6.2
import PackageDescription

// Every target is checked alike. Warnings are errors in our own builds, which the Makefile starts; elsewhere, as in an app that
// has the package beside it, a newer compiler's warning must break nothing.
let strict: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
  ] + (Context.environment["CACHEENGINE_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

// Where publishers are OpenCombine's. Apple platforms have Combine.
let withoutCombine: [Platform] = [.linux, .android, .windows]

// Homebrew keeps its ncurses apart, where pkg-config finds it. Elsewhere it lies in the way, and pkg-config would only warn of
// flags that SwiftPM does not take.
#if os(macOS)
let ncursesw: String? = "ncursesw"
#else
let ncursesw: String? = nil
#endif

/// The folders below Sources/CacheEngine, each a target of its own.
let rooms = [
  "Cashier", "Core", "Disk", "HitRatio", "Memory", "Models", "Network", "Providers", "Shared", "Storage",
  "Transformers",
]

/// What users import beside the umbrella.
let faces: [Target.Dependency] = [
  "CacheEngineCashier", "CacheEngineHitRatio", "CacheEngineModels", "CacheEngineNetwork", "CacheEngineProviders",
  "CacheEngineShared", "CacheEngineStorage", "CacheEngineTransformers",
]

extension Target {
  /// The tests of a part of the engine.
  static func tests(_ name: String, _ dependencies: [Dependency] = [], resources: [Resource]? = nil) -> Target {
    .testTarget(
      name: "\(name)Tests", dependencies: ["CacheEngine", "CacheEngineTesting", "TestSupport"] + dependencies,
      resources: resources, swiftSettings: strict)
  }

  /// A part of the engine, in a folder below the umbrella's.
  static func room(_ name: String, _ folder: String, _ dependencies: [Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/CacheEngine/\(folder)", swiftSettings: strict)
  }
}

let package = Package(
  name: "CacheEngine",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CacheEngine", targets: ["CacheEngine"]),
    .library(name: "CacheEngineStorage", targets: ["CacheEngineStorage"]),
    .library(name: "CacheEngineCashier", targets: ["CacheEngineCashier"]),
    .library(name: "CacheEngineModels", targets: ["CacheEngineModels"]),
    .library(name: "CacheEngineNetwork", targets: ["CacheEngineNetwork"]),
    .library(name: "CacheEngineShared", targets: ["CacheEngineShared"]),
    .library(name: "CacheEngineProviders", targets: ["CacheEngineProviders"]),
    .library(name: "CacheEngineTransformers", targets: ["CacheEngineTransformers"]),
    .library(name: "CacheEngineHitRatio", targets: ["CacheEngineHitRatio"]),
    .library(name: "CacheEngineImages", targets: ["CacheEngineImages"]),
    .library(name: "CacheEngineCombine", targets: ["CacheEngineCombine"]),
    .library(name: "CacheEngineEncryption", targets: ["CacheEngineEncryption"]),
    .library(name: "CacheEngineHTTP", targets: ["CacheEngineHTTP"]),
    .library(name: "CacheEngineProxy", targets: ["CacheEngineProxy"]),
    .library(name: "CacheEngineInspector", targets: ["CacheEngineInspector"]),
    .library(name: "CacheEngineTesting", targets: ["CacheEngineTesting"]),
    .library(name: "CacheEngineRedis", targets: ["CacheEngineRedis"]),
    .library(name: "CacheEngineMetrics", targets: ["CacheEngineMetrics"]),
    .library(name: "CacheEngineTracing", targets: ["CacheEngineTracing"]),
    .library(name: "CacheEngineLifecycle", targets: ["CacheEngineLifecycle"]),
    .executable(name: "cache-explorer", targets: ["CacheExplorer"]),
  ],
  traits: [
    .trait(name: "Combine", description: "CacheEngineCombine: publishers, OpenCombine's where there is no Combine."),
    .trait(name: "Encryption", description: "CacheEngineEncryption: encrypted entries by swift-crypto."),
    .trait(name: "HTTP", description: "CacheEngineHTTP: HTTP caching by the rules of RFC 9111."),
    .trait(
      name: "Proxy", description: "CacheEngineProxy: a caching reverse proxy on SwiftNIO.", enabledTraits: ["HTTP"]),
    .trait(name: "Redis", description: "CacheEngineRedis: a level in Redis or Valkey that many processes share."),
    .trait(
      name: "RedisTLS", description: "CacheEngineRedis over TLS, for rediss:// addresses.", enabledTraits: ["Redis"]),
    .trait(name: "Metrics", description: "CacheEngineMetrics: figures for the metrics system that the program has."),
    .trait(name: "Tracing", description: "CacheEngineTracing: a span for each read that leaves memory."),
    .trait(name: "Lifecycle", description: "CacheEngineLifecycle: disk levels closed when a service group shuts down."),
    .trait(
      name: "Explorer", description: "cache-explorer, the program, with all that it can open.",
      enabledTraits: ["Proxy", "Redis"]),
  ],
  dependencies: [
    // The engine's log goes where the application's log goes. Small, and most servers have it already.
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // CacheEngineCombine only, and only where there is no Combine.
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    // CacheEngineEncryption only. Apple's CryptoKit under its own names, and BoringSSL where there is none: authenticated
    // encryption is nothing to write oneself. It builds for minutes, so nothing that the explorer needs depends on it.
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    // CacheEngineHTTP only, with the trait HTTP: the ecosystem's types for requests and responses, and structured fields.
    .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.2.0"),
    // CacheEngineProxy and CacheEngineRedis only, with the traits Proxy and Redis: sockets on an event loop.
    .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
    // CacheEngineRedis only, with the trait RedisTLS: TLS on that event loop, by BoringSSL. It builds for minutes.
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    // CacheEngineMetrics only, with the trait Metrics: where a server's figures go, whatever collects them.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    // CacheEngineTracing only, with the trait Tracing: the tracer that a server has, and the span that a task is in.
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
    // CacheEngineLifecycle only, with the trait Lifecycle: how servers start and end their parts in order.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    // The explorer only: arguments with help, suggestions and shell completions; YAML with line and column.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CNcurses", pkgConfig: ncursesw, providers: [.apt(["libncurses-dev"]), .brew(["ncurses"])]),
    // Apple has libcurl on macOS only, with its headers in the SDK.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
    .target(name: "CStore"),
    .target(name: "CTerminalGuard"),
    // The rooms of the engine. What a room may know stands here, and the compiler keeps it.
    .room("CacheCore", "Core", ["CStore", .product(name: "Logging", package: "swift-log")]),
    .room("CacheMemory", "Memory", ["CacheCore"]),
    .room("CacheDisk", "Disk", ["CacheCore", "CStore"]),
    // What users import; the rooms below it are there for who asks for them by name.
    .target(
      name: "CacheEngine", dependencies: ["CacheCore", "CacheMemory", "CacheDisk"], exclude: rooms,
      swiftSettings: strict),
    .room("CacheEngineShared", "Shared", ["CacheCore", "CacheDisk", "CStore"]),
    .room("CacheEngineStorage", "Storage", ["CacheCore", "CacheMemory", "CacheDisk"]),
    .room("CacheEngineCashier", "Cashier", ["CacheCore", "CacheMemory", "CacheDisk"]),
    .room("CacheEngineModels", "Models", ["CacheCore", "CacheMemory", "CacheDisk"]),
    .room(
      "CacheEngineNetwork", "Network",
      ["CacheCore", "CStore", .target(name: "CCurl", condition: .when(platforms: [.linux, .macOS]))]),
    .room("CacheEngineProviders", "Providers", ["CacheCore", "CacheMemory", "CacheDisk", "CacheEngineNetwork"]),
    .room("CacheEngineTransformers", "Transformers", ["CacheCore", "CZlib"]),
    .room("CacheEngineHitRatio", "HitRatio", ["CStore", "CZlib", "CacheCore", "CacheMemory", "CacheDisk"]),
    // A library of its own, so that only who wants images needs the codecs.
    .target(
      name: "CacheEngineImages",
      dependencies: [
        "CacheEngine", "CacheEngineProviders",
        .target(name: "CPNG", condition: .when(platforms: [.linux])),
        .target(name: "CTurboJPEG", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineCombine",
      dependencies: [
        "CacheEngine",
        .product(
          name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: withoutCombine, traits: ["Combine"])),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineEncryption",
      dependencies: [
        "CacheEngine", .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ],
      swiftSettings: strict),
    // A library of its own, so that only who lets others look into a running app has sockets and a protocol in it.
    .target(
      name: "CacheEngineInspector", dependencies: ["CacheEngine", "CacheEngineHitRatio", "CStore"],
      swiftSettings: strict),
    .target(name: "CacheEngineTesting", dependencies: ["CacheEngine", "CacheEngineShared"], swiftSettings: strict),
    // Without its trait an empty library, so that who does not want Redis neither fetches nor builds an event loop.
    .target(
      name: "CacheEngineRedis",
      dependencies: [
        "CacheEngine", "CacheEngineShared",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["RedisTLS"])),
      ],
      swiftSettings: strict),
    // What servers are watched and ended by. Without their traits the libraries fetch nothing; of CacheEngineMetrics the page
    // for Prometheus is left, which needs nobody.
    .target(
      name: "CacheEngineMetrics",
      dependencies: [
        "CacheEngine", .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineTracing",
      dependencies: [
        "CacheEngine",
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
      ],
      swiftSettings: strict),
    .target(
      name: "CacheEngineLifecycle",
      dependencies: [
        "CacheEngine",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Lifecycle"])),
      ],
      swiftSettings: strict),
    // With the trait HTTP; empty without it.
    .target(
      name: "CacheEngineHTTP",
      dependencies: [
        "CacheCore", "CacheEngineNetwork",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
        .product(
          name: "RawStructuredFieldValues", package: "swift-http-structured-headers", condition: .when(traits: ["HTTP"])
        ),
      ],
      swiftSettings: strict),
    // With the trait Proxy; empty without it.
    .target(
      name: "CacheEngineProxy",
      dependencies: [
        "CacheEngineHTTP", "CacheEngineNetwork", "CacheCore", "CStore",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Proxy"])),
      ],
      swiftSettings: strict),
    // The proxy with a memory level, and how one is written; not a product.
    .executableTarget(
      name: "CachingProxy", dependencies: ["CacheEngineProxy", "CacheEngineHTTP", "CacheEngine"],
      path: "Examples/CachingProxy", swiftSettings: strict),
    // The explorer's rooms, from the ground up: what a room may know stands in its dependencies.
    .target(name: "ExplorerText", path: "Sources/CacheExplorer/Text", swiftSettings: strict),
    .target(
      name: "ExplorerCommands", dependencies: ["ExplorerText", "CacheEngine", "CacheEngineHitRatio"],
      path: "Sources/CacheExplorer/Commands", swiftSettings: strict),
    .target(
      name: "ExplorerState", dependencies: ["ExplorerText", "ExplorerCommands", "CacheEngine", "CacheEngineHitRatio"],
      path: "Sources/CacheExplorer/State", swiftSettings: strict),
    // Knows nothing of the state, so that the two are compiled side by side.
    .target(
      name: "ExplorerConfiguration",
      dependencies: [
        "ExplorerText", "ExplorerCommands", "CacheEngine", "CacheEngineHitRatio", "CacheEngineNetwork",
        "CacheEngineRedis", "CacheEngineShared",
        .product(name: "Yams", package: "Yams", condition: .when(traits: ["Explorer"])),
      ],
      path: "Sources/CacheExplorer/Configuration", swiftSettings: strict),
    // These two know nothing of each other, so that they are compiled side by side: they take longest.
    .target(
      name: "ExplorerModel",
      dependencies: ["ExplorerText", "ExplorerCommands", "ExplorerState", "CacheEngine", "CacheEngineHitRatio"],
      path: "Sources/CacheExplorer/Model", swiftSettings: strict),
    .target(
      name: "ExplorerCache",
      dependencies: [
        "ExplorerText", "ExplorerCommands", "ExplorerState", "ExplorerConfiguration", "CacheEngine",
        "CacheEngineHitRatio", "CacheEngineInspector", "CacheEngineModels", "CacheEngineNetwork", "CacheEngineTesting",
        "CacheEngineTransformers", "CacheEngineHTTP", "CacheEngineProxy", "CacheEngineShared", "CacheEngineRedis",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
      ],
      path: "Sources/CacheExplorer/Cache", swiftSettings: strict),
    // Beside these two, too.
    .target(
      name: "ExplorerTerminal", dependencies: ["ExplorerText", "ExplorerState", "CNcurses", "CTerminalGuard"],
      path: "Sources/CacheExplorer/Terminal", swiftSettings: strict),
    .executableTarget(
      name: "CacheExplorer",
      dependencies: [
        "ExplorerText", "ExplorerCommands", "ExplorerState", "ExplorerConfiguration", "ExplorerModel", "ExplorerCache",
        "ExplorerTerminal", "CacheEngine", "CacheEngineHitRatio", "CacheEngineInspector", "CacheEngineTesting",
        "CacheEngineHTTP", "CacheEngineProxy", "CTerminalGuard",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Explorer"])),
      ],
      exclude: ["Text", "Commands", "State", "Configuration", "Model", "Cache", "Terminal"], swiftSettings: strict),
    // An app to attach to, and how one is written; not a product.
    .executableTarget(
      name: "AttachedApp", dependencies: ["CacheEngine", "CacheEngineInspector"], path: "Examples/AttachedApp",
      swiftSettings: strict),
    // A client on the command line that works without a network, and a service that makes thumbnails; not products.
    .executableTarget(
      name: "OfflineClient", dependencies: ["CacheEngine", "CacheEngineNetwork"], path: "Examples/OfflineClient",
      swiftSettings: strict),
    .executableTarget(
      name: "ThumbnailService", dependencies: ["CacheEngine", "CacheEngineImages"], path: "Examples/ThumbnailService",
      swiftSettings: strict),
    // How an app uses a Redis client that it already has; not a product.
    .target(
      name: "RedisAdapter", dependencies: ["CacheEngine", "CacheEngineShared"], path: "Examples/RedisAdapter",
      swiftSettings: strict),
    // Kills disk levels and looks at what is left; not a product.
    .executableTarget(
      name: "CacheTorture",
      dependencies: [
        "CStore", "CacheEngine", "CacheEngineTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Explorer"])),
      ],
      swiftSettings: strict),
    // What a growing fleet of processes does to its server, simulated; with the benchmarks, and not a product.
    .executableTarget(
      name: "FleetGrowth", dependencies: ["CacheEngine", "CacheEngineShared", "CacheEngineTesting"],
      path: "Benchmarks/Sources/FleetGrowth", swiftSettings: strict),
    .testTarget(
      name: "CacheTortureTests",
      dependencies: [
        "CacheTorture", "CacheEngine", "CacheEngineTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Explorer"])),
      ],
      swiftSettings: strict),
    // An HTTP server for the tests, which misbehaves on demand. Not a product.
    .target(
      name: "LoopbackServer", dependencies: ["CStore"], path: "Tests/LoopbackServer", swiftSettings: strict),
    // What the tests of several rooms use. Not a product.
    .target(
      name: "TestSupport", dependencies: ["CacheEngine", "CacheEngineTesting"], path: "Tests/TestSupport",
      swiftSettings: strict),
    // The tests of a room are a target of its name; those of CacheCore, and of the snippets in the README:
    .tests("CacheEngine", faces),
    .tests("CacheMemory"),
    .tests("CacheDisk", ["CacheEngineShared", "CStore"], resources: [.copy("Store/Formats")]),
    .tests("CacheEngineCashier", ["CacheEngineCashier"]),
    .tests("CacheEngineHitRatio", ["CacheEngineHitRatio"], resources: [.copy("Traces")]),
    .tests("CacheEngineModels", ["CacheEngineModels"]),
    .tests("CacheEngineNetwork", ["CacheEngineNetwork", "CacheEngineProviders", "LoopbackServer"]),
    .tests("CacheEngineShared", ["CacheEngineShared", "FleetGrowth"]),
    .tests("CacheEngineStorage", ["CacheEngineStorage"]),
    .tests("CacheEngineTransformers", ["CacheEngineTransformers"]),
    .testTarget(
      name: "CacheEngineHTTPTests",
      dependencies: [
        "CacheEngineHTTP", "CacheEngine", "CacheEngineNetwork", "CacheEngineTesting", "LoopbackServer", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineProxyTests",
      dependencies: [
        "CacheEngineProxy", "CacheEngineHTTP", "CacheEngineNetwork", "CacheEngine", "CacheEngineTesting",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Proxy"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Proxy"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineInspectorTests",
      dependencies: ["CacheEngineInspector", "CacheEngine", "CacheEngineHitRatio", "CacheEngineTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineImagesTests",
      dependencies: [
        "LoopbackServer", "CacheEngineImages", "CacheEngine", "CacheEngineProviders", "CacheEngineTesting",
        "CacheEngineTransformers",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineCombineTests",
      dependencies: [
        "CacheEngineCombine", "CacheEngine", "CacheEngineCashier", "CacheEngineEncryption", "CacheEngineShared",
        "CacheEngineTesting", "CacheEngineTransformers", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
        .product(
          name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: withoutCombine, traits: ["Combine"])),
        .product(
          name: "OpenCombineDispatch", package: "OpenCombine",
          condition: .when(platforms: withoutCombine, traits: ["Combine"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineEncryptionTests",
      dependencies: [
        "CacheEngineEncryption", "CacheEngine", "CacheEngineCashier", "CacheEngineProviders", "CacheEngineStorage",
        "CacheEngineTesting",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ],
      swiftSettings: strict),
    // Starts a redis-server for a test; not a product.
    .target(
      name: "TestRedis", dependencies: ["CacheEngineRedis", "CacheEngine", "CacheEngineTesting"],
      path: "Tests/TestRedis", swiftSettings: strict),
    .testTarget(
      name: "CacheEngineRedisTests",
      dependencies: [
        "TestRedis", "RedisAdapter", "CacheEngineRedis", "CacheEngine", "CacheEngineShared", "CacheEngineTesting",
        "TestSupport",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineMetricsTests",
      dependencies: [
        "CacheEngineMetrics", "CacheEngine", "CacheEngineTesting",
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineTracingTests",
      dependencies: [
        "CacheEngineTracing", "CacheEngine", "CacheEngineTesting",
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CacheEngineLifecycleTests",
      dependencies: [
        "CacheEngineLifecycle", "CacheEngine", "CacheEngineTesting", "TestSupport",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Lifecycle"])),
        .product(
          name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle", condition: .when(traits: ["Lifecycle"])),
      ],
      swiftSettings: strict),
    // The programs in Examples, run as they are.
    .testTarget(
      name: "ExampleProgramTests",
      dependencies: [
        "OfflineClient", "ThumbnailService", "CacheEngineImages", "CacheEngine", "LoopbackServer", "TestSupport",
      ],
      swiftSettings: strict),
    // Every parser of foreign bytes, run on the files in its folder Corpus; make fuzz makes up more.
    .testTarget(
      name: "FuzzTests",
      dependencies: faces + [
        "CacheDisk", "CacheEngine", "CacheEngineImages", "CacheEngineInspector", "CacheEngineTesting", "CacheExplorer",
        "ExplorerCache", "ExplorerCommands", "ExplorerConfiguration", "ExplorerModel", "ExplorerState",
        "ExplorerTerminal", "ExplorerText", "CacheEngineHTTP", "CacheEngineProxy", "CacheEngineRedis",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Proxy"])),
      ],
      exclude: ["Corpus", "Fuzzer.swift"], swiftSettings: strict),
    // Runs a program on a terminal of its own and looks at its screen; for tests only.
    .target(name: "CPseudoTerminal", path: "Tests/PseudoTerminal/C"),
    .target(
      name: "PseudoTerminal", dependencies: ["CPseudoTerminal", "CStore"], path: "Tests/PseudoTerminal/Swift",
      swiftSettings: strict),
    .testTarget(
      name: "CacheExplorerTests",
      dependencies: [
        "CacheExplorer", "ExplorerCache", "ExplorerCommands", "ExplorerConfiguration", "ExplorerModel", "ExplorerState",
        "ExplorerTerminal", "ExplorerText", "CacheEngine", "CacheEngineEncryption", "CacheEngineHitRatio",
        "CacheEngineInspector", "CacheEngineMetrics", "CacheEngineModels", "CacheEngineRedis", "CacheEngineShared",
        "CacheEngineTesting", "CacheEngineTransformers", "LoopbackServer", "TestRedis", "PseudoTerminal",
        "CPseudoTerminal", "CStore", "AttachedApp", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// make api-check compares what is in a library product; the rooms that the umbrella re-exports are in none.
if Context.environment["CACHEENGINE_API"] != nil {
  package.products.append(.library(name: "Rooms", targets: ["CacheCore", "CacheMemory", "CacheDisk"]))
}

// make fuzz builds the sources of FuzzTests into one program with libFuzzer, whose `main` it has, and nothing else.
if Context.environment["CACHEENGINE_FUZZ"] != nil {
  package.products = []
  package.targets.removeAll { $0.isTest || $0.name == "CacheEngineEncryption" }
  for (place, target) in package.targets.enumerated() where target.name == "CacheExplorer" {
    package.targets[place] = .target(
      name: target.name, dependencies: target.dependencies, exclude: target.exclude,
      swiftSettings: strict + [
        .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "explorer_main"])
      ])
  }
  package.targets.append(
    .executableTarget(
      name: "CacheFuzzer",
      dependencies: faces + [
        "CacheDisk", "CacheEngine", "CacheEngineImages", "CacheEngineInspector", "CacheEngineTesting", "CacheExplorer",
        "ExplorerCache", "ExplorerCommands", "ExplorerConfiguration", "ExplorerModel", "ExplorerState",
        "ExplorerTerminal", "ExplorerText", "CacheEngineHTTP", "CacheEngineProxy", "CacheEngineRedis",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Proxy"])),
      ],
      path: "Tests/FuzzTests", exclude: ["Corpus", "FuzzCorpusTests.swift"],
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
  for target in package.targets { target.swiftSettings?.append(.define("CACHEENGINE_FUZZ")) }
}
