// `Fuzz TARGET [libFuzzer's flags] [CORPUS…]`: feeds one of the readers of what comes from outside with bytes that
// libFuzzer makes up. A crash, a trap, a read past the end (AddressSanitizer) or a broken promise (`require`) ends the
// run and leaves the input. Never part of what is shipped: `scripts/fuzz` builds it.

import CFuzzer
import Glibc
import VaultCore

/// What can be fuzzed.
private enum Target: String, CaseIterable {
  /// A connection of the daemon, from the socket to the answers.
  case requests
  /// A client's reader of answers.
  case replies
  /// The vault file and `state.db`, under a vault that uses both.
  case files
  /// The small grammars: entries, times, tokens, Base64, settings.
  case texts
}

/// Runs the target that the command line names.
func runFuzzer() {
  let names = Target.allCases.map(\.rawValue).joined(separator: "|")
  guard CommandLine.argc > 1, let target = Target(rawValue: CommandLine.arguments[1]) else {
    print("usage: Fuzz \(names) [-max_total_time=SECONDS] [CORPUS…]")
    exit(2)
  }
  // libFuzzer does not know the first word.
  var count = CommandLine.argc - 1
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
  unsafe arguments?[1] = CommandLine.unsafeArgv[0]
  unsafe arguments = arguments.map { unsafe $0 + 1 }
  switch target {
  case .requests: exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe feed($0, $1, serve) })
  case .replies: exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe feed($0, $1, readReply) })
  case .files: exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe feed($0, $1, useFiles) })
  case .texts: exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe feed($0, $1, readText) })
  }
}

/// Hands a copy of the input over as an array of its own.
@unsafe private func feed(_ data: UnsafePointer<UInt8>?, _ size: Int, _ body: ([UInt8]) -> Void) -> Int32 {
  body(unsafe Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// Ends the run where something that must hold does not.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError(what()) }
}

/// Lends `frame` as memory of exactly its size, so that AddressSanitizer sees every byte past it that is touched.
func withExactly<Result>(_ frame: some Collection<UInt8>, _ body: (inout MutableSpan<UInt8>) -> Result)
  -> Result
{
  let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: frame.count)
  defer { unsafe copy.deallocate() }
  _ = unsafe copy.initialize(fromContentsOf: frame)
  var span = unsafe MutableSpan(_unsafeElements: copy)
  return body(&span)
}

extension Span<UInt8> {
  /// A copy.
  var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}

/// Runs a job of the vault's actor to its end on this thread.
func onVaultActor(_ body: @escaping @VaultActor () async throws -> Void) {
  let done = Flag()
  Task { @VaultActor in
    do { try await body() } catch { fatalError("\(error)") }
    done.isSet = true
  }
  // Other threads, the stores' own, may have to be waited for.
  while true {
    while VaultActor.executor.runPending() > 0 {}
    if done.isSet { return }
    sched_yield()
  }
}

/// Set on the one thread that also reads it.
private final class Flag: @unchecked Sendable {
  var isSet = false
}
