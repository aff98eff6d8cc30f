// The modules stand in the order of a request, and no file reaches around it: imports in the sources are compared
// with Package.swift, and what only some modules may do is looked for in all.

import Foundation
import Testing

@Suite("Layering")
struct LayeringTests {
  /// What Package.swift lets each target of the sources import.
  private func manifest() throws -> [String: Set<String>] {
    let text = try String(contentsOfFile: Source.root + "/Package.swift", encoding: .utf8)
    var targets: [String: Set<String>] = [:]
    for match in text.matches(of: #/(?:module|program|example)\(\s*"([\w-]+)",\s*imports:\s*\[([^\]]*)\]/#) {
      targets[String(match.1)] = Set(match.2.matches(of: #/"(\w+)"/#).map { String($0.1) })
    }
    targets["ExampleWeb"] = ["VaultClient"]
    return targets
  }

  @Test("a module imports what Package.swift names for it, and of the toolchain only its core")
  func imports() throws {
    let targets = try manifest()
    let toolchain: Set = ["Glibc", "Synchronization"]
    // What the code that this one stands in for is written with.
    let foundation = Set(Self.withFoundation)
    #expect(Source.all.count > 20)
    for source in Source.all {
      let allowed = try #require(targets[source.module], "\(source.module) is no target")
      for module in source.imports {
        let isToolchain =
          toolchain.contains(module)
          || (["Foundation", "FoundationNetworking"].contains(module) && foundation.contains(source.module))
        #expect(allowed.contains(module) || isToolchain, "\(source.path) imports \(module)")
      }
    }
  }

  @Test("a module that Package.swift names is imported")
  func unusedDependencies() throws {
    for (target, dependencies) in try manifest() {
      let imported = Source.all.filter { $0.module == target }.reduce(into: Set()) {
        $0.formUnion($1.imports)
      }
      #expect(dependencies.subtracting(imported).isEmpty, "\(target) does not use them")
    }
  }

  @Test("the modules are in the order in which a request passes them, as docs/architecture.md says")
  func order() throws {
    // What each may name at most; a step never reaches back.
    let order: [String: Set<String>] = [
      "SecretMemory": ["CLinux"],
      "VaultModel": ["SecretMemory"],
      "VaultCrypto": ["VaultModel", "SecretMemory", "COpenSSL"],
      "VaultWire": ["VaultModel", "SecretMemory", "CJSON"],
      "VaultCore": ["VaultModel", "SecretMemory", "VaultCrypto"],
      "GLibLoop": ["VaultModel", "SecretMemory", "CSecret"],
      "SecretServiceStore": ["VaultCore", "GLibLoop", "CSecret", "VaultModel", "SecretMemory"],
      "Database": ["VaultModel", "CSQLite", "CLinux"],
      "StateStore": ["VaultCore", "Database", "VaultModel"],
      "FileStore": ["VaultCore", "VaultCrypto", "Database", "CLinux", "VaultModel", "SecretMemory"],
      "VaultDaemon": ["VaultWire", "VaultCore", "GLibLoop", "CLinux", "VaultModel", "SecretMemory"],
      "VaultClient": ["VaultWire", "CLinux", "VaultModel", "SecretMemory"],
      "SwiftKeychainWrapper": ["VaultClient"],
      "ExampleWeb": ["VaultClient"],
      "back4gram": ["VaultClient", "ExampleWeb"],
      "quickblox-session": ["VaultClient", "ExampleWeb", "COpenSSL"],
      "stream-token": ["VaultClient", "ExampleWeb"],
      "vault": ["VaultClient", "VaultWire", "CLinux", "VaultModel", "SecretMemory"],
      "vaultd": [
        "VaultDaemon", "VaultCore", "SecretServiceStore", "StateStore", "FileStore", "Database", "GLibLoop",
        "VaultModel", "SecretMemory", "CLinux",
      ],
    ]
    for (target, dependencies) in try manifest() {
      let allowed = try #require(order[target], "\(target) has no place in the order")
      #expect(dependencies.subtracting(allowed).isEmpty, "\(target)")
    }
  }

  @Test(
    "each C library has its modules and no others; Foundation is in the wrapper and in the examples alone",
    arguments: [
      ("COpenSSL", ["VaultCrypto", "quickblox-session"]), ("CSQLite", ["Database"]), ("CJSON", ["VaultWire"]),
      ("CSecret", ["GLibLoop", "SecretServiceStore"]), ("Foundation", Self.withFoundation),
      ("FoundationNetworking", ["ExampleWeb"]),
      ("FoundationEssentials", []),
      ("Dispatch", []),
    ])
  func libraries(library: String, modules: [String]) {
    let users = Set(Source.all.filter { $0.imports.contains(library) }.map(\.module))
    #expect(users.subtracting(modules).isEmpty)
  }

  @Test("libsecret is called by the Secret Service store alone")
  func libsecret() {
    let prefixes = ["service", "value", "item", "collection", "password", "session"].map { "secret_\($0)_" }
    for source in Source.all where source.module != "SecretServiceStore" {
      for line in source.code { #expect(!prefixes.contains { line.contains($0) }, "\(source.path): \(line)") }
    }
  }

  /// The modules with Foundation: what stands in for code that is written with it, and programs that use the libraries.
  private static let withFoundation = [
    "SwiftKeychainWrapper", "ExampleWeb", "back4gram", "quickblox-session", "stream-token",
  ]

  /// The modules that see pointers.
  private static let pointers: Set = [
    "SecretMemory", "VaultCrypto", "Database", "GLibLoop", "SecretServiceStore",
  ]

  @Test("unsafe code is where pointers and system calls are")
  func unsafeCode() {
    // Each lends the bytes of a text for one call, for which there is no safe way yet; the actor hands a job to the
    // thread of the event loop, a promise to whoever keeps it, and the signature is OpenSSL's.
    let argued: Set = [
      "VaultCore/VaultActor.swift", "VaultModel/Promise.swift", "VaultModel/ExactText.swift",
      "VaultWire/JWT.swift",
      "VaultClient/ClientText.swift", "VaultDaemon/Process/LogLine.swift",
      "Examples/quickblox-session/Signature.swift",
    ]
    for source in Source.all where !Self.pointers.contains(source.module) && !argued.contains(source.path) {
      guard source.code.contains(where: { words($0).contains("unsafe") }) else { continue }
      #expect(!source.imports.isDisjoint(with: ["Glibc", "CLinux", "CJSON"]), "\(source.path)")
    }
  }

  @Test("nothing traps on purpose, detaches a task or goes around the checks of concurrency")
  func forbidden() {
    for source in Source.all {
      for line in source.code {
        for phrase in ["try!", "as!", "DispatchQueue", "Task.detached", "@preconcurrency"] {
          #expect(!line.contains(phrase), "\(source.path): \(line)")
        }
        if !Self.pointers.contains(source.module) {
          #expect(!line.contains("nonisolated(unsafe)"), "\(source.path): \(line)")
        }
      }
    }
  }

  private func words(_ line: String) -> [Substring] {
    line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
