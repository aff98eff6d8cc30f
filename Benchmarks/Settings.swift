// The command line of the benchmark.

import Foundation

/// What to measure, and with what.
struct Settings {
  /// The command and the daemon that are measured: in VAULT_BINARIES, else where `make build` puts them.
  var vault = binaries + "/vault"
  var vaultd = binaries + "/vaultd"
  /// The sources of the peers.
  var peers = "Benchmarks/peers"
  /// Where the throw-away files go: on the disk that writes are to be measured on.
  var folder = "/var/tmp"
  /// A short run: a tenth of the entries and a third of the time.
  var quick = false

  private static let binaries = ProcessInfo.processInfo.environment["VAULT_BINARIES"] ?? "build"

  static let usage = """
    Benchmarks [--vault PROGRAM] [--vaultd PROGRAM] [--peers FOLDER] [--folder FOLDER] [--quick]
      Measures the vault against secret-tool, a C echo server, Redis, and append with fdatasync.
      Everything is started for the run and ended with it; files lie in a new folder under --folder (/var/tmp).
    """

  /// Reads the arguments behind the program's name.
  init(_ arguments: some Sequence<String>) throws(Failure) {
    var rest = Array(arguments)[...]
    while let flag = rest.popFirst() {
      switch flag {
      case "--help": throw Failure(Self.usage)
      case "--quick": quick = true
      case "--vault": vault = try Self.value(of: flag, &rest)
      case "--vaultd": vaultd = try Self.value(of: flag, &rest)
      case "--peers": peers = try Self.value(of: flag, &rest)
      case "--folder": folder = try Self.value(of: flag, &rest)
      default: throw Failure("unknown flag \(flag)\n\(Self.usage)")
      }
    }
  }

  private static func value(of flag: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
    guard let value = rest.popFirst() else { throw Failure("\(flag) needs a value") }
    return value
  }

  /// How many entries a large file has.
  var manyEntries: Int { quick ? 10_000 : 100_000 }
  /// How often each number is measured; the median counts.
  var rounds: Int { quick ? 3 : 5 }
  /// Seconds of one measurement.
  var seconds: Double { quick ? 1 : 3 }
  /// Runs of a program in one measurement.
  var runs: Int { quick ? 15 : 40 }
}

/// Why something could not be measured.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
