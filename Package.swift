// swift-tools-version: 6.2
// The modules of the vault, in the order in which a request passes them. A target may import what it
// names here and nothing else; LayeringTests compares the sources with this list.
import PackageDescription

/// Every Swift target: language mode 6, strict memory safety, no warning left standing.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, imports: [Target.Dependency], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: imports, exclude: exclude, swiftSettings: strict)
}

func program(_ name: String, imports: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: imports, swiftSettings: strict)
}

/// A program that shows how the libraries are used; its module's name is that of its folder.
func example(_ name: String, imports: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: imports, path: "Sources/Examples/\(name)", swiftSettings: strict)
}

func tests(of name: String, imports: [Target.Dependency] = []) -> Target {
  .testTarget(name: "\(name)Tests", dependencies: [.byName(name: name)] + imports, swiftSettings: strict)
}

let package = Package(
  name: "vault",
  products: [
    .executable(name: "vaultd", targets: ["vaultd"]),
    .executable(name: "vault", targets: ["vault"]),
    .library(name: "VaultClient", targets: ["VaultClient"]),
    .library(name: "SwiftKeychainWrapper", targets: ["SwiftKeychainWrapper"]),
  ],
  targets: [
    // C libraries: a module map and a header of inline shims each.
    .target(name: "CLinux"),
    .target(name: "CJSON"),
    .systemLibrary(name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),

    // What every step speaks of.
    module("SecretMemory", imports: ["CLinux"]),
    module("VaultModel", imports: ["SecretMemory"]),
    module("VaultCrypto", imports: ["VaultModel", "SecretMemory", "COpenSSL"]),

    // Frame, call, reply.
    module(
      "VaultWire", imports: ["VaultModel", "SecretMemory", "CJSON"], exclude: ["org.vaultd.Vault.varlink"]),

    // The vault.
    module("VaultCore", imports: ["VaultModel", "VaultCrypto", "SecretMemory"]),

    // The stores.
    module("GLibLoop", imports: ["VaultModel", "CSecret"]),
    module(
      "SecretServiceStore", imports: ["VaultCore", "GLibLoop", "CSecret", "VaultModel", "SecretMemory"]),
    module("Database", imports: ["VaultModel", "CSQLite", "CLinux"]),
    module("StateStore", imports: ["VaultCore", "Database", "VaultModel"]),
    module(
      "FileStore",
      imports: ["VaultCore", "VaultCrypto", "Database", "CLinux", "VaultModel", "SecretMemory"]),

    // Listener, connection, and what the process owes the system.
    module(
      "VaultDaemon",
      imports: ["VaultWire", "VaultCore", "GLibLoop", "CLinux", "VaultModel", "SecretMemory"]),

    // The other end of the socket.
    module("VaultClient", imports: ["VaultWire", "CLinux", "VaultModel", "SecretMemory"]),
    module("SwiftKeychainWrapper", imports: ["VaultClient"]),

    program(
      "vaultd",
      imports: [
        "VaultDaemon", "VaultCore", "SecretServiceStore", "StateStore", "FileStore", "Database", "GLibLoop",
        "VaultModel",
      ]),
    program("vault", imports: ["VaultClient", "VaultWire", "CLinux"]),

    // Chat clients, small and real, on the public libraries.
    .target(
      name: "ExampleWeb", dependencies: ["VaultClient"], path: "Sources/Examples/ExampleWeb",
      swiftSettings: strict),
    example("back4gram", imports: ["VaultClient", "ExampleWeb"]),
    example("quickblox-session", imports: ["VaultClient", "ExampleWeb", "COpenSSL"]),
    example("stream-token", imports: ["VaultClient", "ExampleWeb"]),

    // What `make bench` runs: the programs against their peers, from outside; a test measures some of it, too.
    .target(name: "Measuring", path: "Benchmarks/Measuring", swiftSettings: strict),
    .executableTarget(
      name: "Benchmarks", dependencies: ["Measuring"], path: "Benchmarks/Bench", swiftSettings: strict),

    // Tests: one target a module, and what they share.
    .target(
      name: "TestSupport", dependencies: ["VaultCore", "VaultModel", "SecretMemory"],
      path: "Tests/TestSupport",
      swiftSettings: strict),
    .target(
      name: "StoreConformance", dependencies: ["TestSupport", "VaultCore", "VaultModel", "SecretMemory"],
      path: "Tests/StoreConformance", swiftSettings: strict),
    .target(name: "CSpawn", path: "Tests/CSpawn"),
    .target(name: "Spawning", dependencies: ["CSpawn"], path: "Tests/Spawning", swiftSettings: strict),
    .target(
      name: "FaultyLayer", path: "Tests/FaultyLayer", linkerSettings: [.linkedLibrary("sqlite3")]),
    tests(of: "SecretMemory", imports: ["TestSupport"]),
    tests(of: "VaultCrypto", imports: ["TestSupport", "VaultModel", "SecretMemory"]),
    tests(of: "VaultModel", imports: ["SecretMemory"]),
    tests(of: "VaultWire", imports: ["TestSupport", "VaultModel", "SecretMemory"]),
    tests(of: "VaultCore", imports: ["TestSupport", "StoreConformance", "VaultModel", "SecretMemory"]),
    .target(
      name: "ScriptedDaemon", dependencies: ["VaultWire", "CLinux", "VaultModel", "SecretMemory"],
      path: "Tests/ScriptedDaemon", swiftSettings: strict),
    tests(
      of: "VaultClient",
      imports: ["ScriptedDaemon", "TestSupport", "VaultWire", "CLinux", "VaultModel", "SecretMemory"]),
    tests(
      of: "SwiftKeychainWrapper", imports: ["ScriptedDaemon", "TestSupport", "VaultClient", "VaultModel"]),
    tests(
      of: "vault",
      imports: [
        "ScriptedDaemon", "Spawning", "TestSupport", "VaultClient", "VaultWire", "VaultModel", "SecretMemory",
      ]),
    tests(of: "GLibLoop", imports: ["TestBus", "TestSupport"]),
    .target(name: "TestBus", dependencies: ["Spawning"], path: "Tests/TestBus", swiftSettings: strict),
    tests(
      of: "SecretServiceStore",
      imports: [
        "TestBus", "TestSupport", "StoreConformance", "GLibLoop", "VaultCore", "VaultModel", "SecretMemory",
      ]),
    tests(of: "Database", imports: ["TestSupport", "VaultModel"]),
    tests(
      of: "FileStore",
      imports: [
        "Spawning", "TestSupport", "StoreConformance", "FaultyLayer", "Database", "VaultCore", "VaultCrypto",
        "VaultModel", "SecretMemory",
      ]),
    tests(of: "StateStore", imports: ["TestSupport", "FaultyLayer", "Database", "VaultCore", "VaultModel"]),
    tests(
      of: "VaultDaemon",
      imports: [
        "Spawning", "TestSupport", "VaultCore", "VaultWire", "VaultModel", "SecretMemory", "GLibLoop",
        "CLinux",
      ]),

    // The programs as they are shipped, and the rules of the modules.
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "CSpawn", "Spawning", "Measuring", "vault", "vaultd", "back4gram", "quickblox-session",
        "stream-token",
      ],
      swiftSettings: strict),
    .testTarget(name: "LayeringTests", swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)

// What `make fuzz` builds. A package with flags of its own kind may not be depended on, so it is left out otherwise.
if Context.environment["VAULT_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "CFuzzer", "CLinux", "SecretMemory", "VaultModel", "VaultWire", "VaultCore", "Database", "FileStore",
        "StateStore", "SecretServiceStore", "GLibLoop", "VaultDaemon", "TestSupport",
      ],
      path: "Fuzz", exclude: ["CFuzzer", "Seeds"], swiftSettings: strict,
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
  ]
}
