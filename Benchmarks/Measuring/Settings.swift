// What is measured, with what, where, and how long.

import Foundation

/// What a measurement needs to be told.
package struct Settings: Sendable {
  /// The command and the daemon that are measured: in VAULT_BINARIES, else where `make build` puts them.
  package var vault = binaries + "/vault"
  package var vaultd = binaries + "/vaultd"
  /// The sources of the peers.
  package var peers = "Benchmarks/peers"
  /// Where the throw-away files go: on the disk that writes are to be measured on.
  package var folder = "/var/tmp"
  /// How much is measured.
  package var scale = Scale.whole

  package init() {}

  /// Where the programs are that are measured.
  package static let binaries = ProcessInfo.processInfo.environment["VAULT_BINARIES"] ?? "build"
}

/// How much is measured, and how long.
package struct Scale: Sendable {
  /// How often each number is measured; the median counts.
  package let rounds: Int
  /// Seconds of one measurement.
  package let seconds: Double
  /// Runs of a program in one measurement.
  package let runs: Int
  /// Appends with fdatasync in one measurement.
  package let appends: Int
  /// How many entries a large file has.
  package let manyEntries: Int
  /// How many items gnome-keyring has at most.
  package let manyItems: Int
  /// How many requests a program makes in an hour that is looked at.
  package let hour: Int

  /// What the page of results is made from.
  package static let whole = Scale(
    rounds: 5, seconds: 3, runs: 40, appends: 3_000, manyEntries: 100_000, manyItems: 10_000, hour: 360_000)
  /// A tenth of the entries and a third of the time.
  package static let quick = Scale(
    rounds: 3, seconds: 1, runs: 15, appends: 500, manyEntries: 10_000, manyItems: 1_000, hour: 36_000)
  /// What a test has time for.
  package static let test = Scale(
    rounds: 3, seconds: 0.4, runs: 15, appends: 400, manyEntries: 100, manyItems: 10, hour: 1_000)
}

/// Why something could not be measured.
package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
