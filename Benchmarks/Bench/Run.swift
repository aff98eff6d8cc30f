// The run: each promise of the table is measured against its peer, in turn with it, and printed as a row. What
// cannot be measured is said and makes the run fail; a target that is not met does not.

import Foundation
import Measuring

/// Runs what the command line says and ends the process.
func benchmark() -> Never {
  do {
    let invocation = try Invocation(CommandLine.arguments.dropFirst())
    let run = try Run(invocation)
    run.all()
    print(run.report.text(asMarkdown: invocation.markdown))
    for failure in run.failures { print("not measured: \(failure)") }
    if !run.failures.isEmpty { print("what the servers said:\n\(run.workshop.log)") }
    let failed = !run.failures.isEmpty
    run.end()
    exit(failed ? 1 : 0)
  } catch {
    FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
    exit(1)
  }
}

/// One run over the parts.
final class Run {
  private(set) var report: Report
  private(set) var failures: [String] = []
  let workshop: Workshop
  private let invocation: Invocation
  /// A daemon with 100 entries in its file, once a part has asked for it.
  private var small: Daemon?

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    workshop = try Workshop(invocation.settings)
    removeWhenInterrupted(workshop)
    report = Report(machine: Machine.description(of: workshop.folder))
  }

  /// How much is measured.
  var scale: Scale { invocation.settings.scale }

  /// Measures everything that can be measured.
  func all() {
    for part in invocation.parts {
      FileHandle.standardError.write(Data("measuring: \(part.rawValue)\n".utf8))
      let start = ContinuousClock.now
      do { try measure(part) } catch { failures.append("\(part.rawValue): \(error)") }
      report.took.append((part.rawValue, Int(((ContinuousClock.now - start) / .seconds(1)).rounded())))
    }
  }

  /// Ends what was started and removes the folder.
  func end() {
    small = nil
    workshop.end()
  }

  private func measure(_ part: Part) throws {
    switch part {
    case .command: try promise(.command)
    case .reading:
      try promise(.oneReader)
      try promise(.manyReaders)
    case .writing:
      try promise(.oneWriter)
      try promise(.manyWriters)
    case .entries: try manyEntries(few: try few(), in: workshop) { report.rows += $0 }
    case .connections: report.rows += try connections(few: try few(), in: workshop)
    case .keyring: report.rows += try keyring(in: workshop)
    case .memory: try memory(in: workshop) { report.rows += $0 }
    case .growth:
      let curves = try growth(in: workshop)
      report.curves = curves
      try curves.plot.svg.write(toFile: invocation.plot, atomically: true, encoding: .utf8)
    }
  }

  private func promise(_ promise: Promise) throws {
    report.rows += try promise.measure(try few(), toAims: true, in: workshop)
  }

  private func few() throws -> Daemon {
    if let small { return small }
    let daemon = try Daemon("few", in: workshop)
    try daemon.fill(0..<100)
    small = daemon
    return daemon
  }
}

/// The machine that a run is made on.
enum Machine {
  static func description(of folder: String) -> String {
    let processor =
      (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "?"
    let kernel = (try? output(of: "uname", ["-sr"])) ?? "?"
    let files = (try? output(of: "stat", ["-f", "-c", "%T", folder])) ?? "?"
    let cpus = ProcessInfo.processInfo.activeProcessorCount
    // On a machine that does other things meanwhile, no number below means much.
    let load =
      (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first ?? "?"
    let words = ["\(cpus) × \(processor)", kernel, "files on " + files, "load before \(load)"]
    return words.map {
      $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }.joined(separator: ", ")
  }
}
