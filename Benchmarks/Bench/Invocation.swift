// The command line of the benchmark.

import Foundation
import Measuring

/// A part of the benchmark that can be run by itself.
enum Part: String, CaseIterable {
  case command, reading, writing, entries, connections, keyring, memory, growth

  /// What it measures, and about how many seconds it takes.
  var about: (what: String, seconds: Int) {
    switch self {
    case .command: ("vault get from start to end, beside secret-tool and a C client", 30)
    case .reading: ("Get, one client and 50, beside an echo server and Redis", 90)
    case .writing: ("Set, one client and 50, beside append with fdatasync and Redis", 70)
    case .entries: ("a file of 100,000 entries beside one of 100", 240)
    case .connections: ("1,000 connections, idle and busy", 90)
    case .keyring: ("Get through the Secret Service, beside libsecret's own look-up", 50)
    case .memory: ("memory, idle and after an hour's requests", 280)
    case .growth: ("Get and Set from 10 to 100,000 entries, beside gnome-keyring, and the plot", 240)
    }
  }
}

/// What the benchmark was told to do.
struct Invocation {
  var settings = Settings()
  var parts = Part.allCases
  /// The table as Markdown, as docs/performance.md has it.
  var markdown = false
  /// Where the plot goes.
  var plot = Settings.binaries + "/growth.svg"

  static var usage: String {
    let parts = Part.allCases.map { part in
      let (name, about) = (part.rawValue, part.about)
      return "  \(name.padding(toLength: 12, withPad: " ", startingAt: 0)) \(about.what) (\(about.seconds) s)"
    }
    return """
      Benchmarks [--only PART[,PART…]] [--quick] [--markdown] [--plot FILE]
          [--vault PROGRAM] [--vaultd PROGRAM] [--peers FOLDER] [--folder FOLDER]
        Measures the vault against secret-tool, libsecret, a C echo server, Redis, and append with fdatasync.
        Everything is started for the run and ended with it; files lie in a new folder under --folder (/var/tmp).
        --quick: a tenth of the entries and a third of the time, together 4 minutes.
        --plot: where the growth curves are drawn.
      Parts:
      \(parts.joined(separator: "\n"))
      """
  }

  /// Reads the arguments behind the program's name.
  init(_ arguments: some Sequence<String>) throws(Failure) {
    var rest = Array(arguments)[...]
    while let flag = rest.popFirst() {
      switch flag {
      case "--help": throw Failure(Self.usage)
      case "--quick": settings.scale = .quick
      case "--markdown": markdown = true
      case "--only": parts = try Self.parts(try Self.value(of: flag, &rest))
      case "--plot": plot = try Self.value(of: flag, &rest)
      case "--vault": settings.vault = try Self.value(of: flag, &rest)
      case "--vaultd": settings.vaultd = try Self.value(of: flag, &rest)
      case "--peers": settings.peers = try Self.value(of: flag, &rest)
      case "--folder": settings.folder = try Self.value(of: flag, &rest)
      default: throw Failure("unknown flag \(flag)\n\(Self.usage)")
      }
    }
  }

  private static func value(of flag: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
    guard let value = rest.popFirst() else { throw Failure("\(flag) needs a value") }
    return value
  }

  private static func parts(_ names: String) throws(Failure) -> [Part] {
    var parts: [Part] = []
    for name in names.split(separator: ",") {
      guard let part = Part(rawValue: String(name)) else { throw Failure("no part \(name)\n\(usage)") }
      parts.append(part)
    }
    return parts
  }
}
