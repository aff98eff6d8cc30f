// What the tests of the store have in common: the bus to themselves, a store of their own on it, and short
// ways to say what they do.

import Foundation
import GLibLoop
import SecretMemory
import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

/// A store on the tests' bus.
@VaultActor
final class StoreUnderTest {
  let store: SecretServiceStore
  let clock = SettableClock()
  private var version: Version = 1_900_000_000_000

  init(plainSession: Bool = false) {
    store = SecretServiceStore(plainSession: plainSession, clock: clock)
  }

  func patience(_ seconds: Double = 10, prompt: Double = 20, interactive: Bool = true) -> Patience {
    Patience(
      deadline: clock.boot.advanced(by: Int64(seconds * 1_000)),
      promptDeadline: clock.boot.advanced(by: Int64(prompt * 1_000)), interactive: interactive)
  }

  func entry(_ id: EntryID, _ size: Int, label: String? = nil) -> Entry {
    version += 1
    let now = clock.wall
    return Entry(
      id: id, version: version, created: now, modified: now, label: label, size: size, store: .secretService)
  }

  @discardableResult
  func set(_ id: EntryID, _ secret: [UInt8], _ patience: Patience? = nil) async throws -> Entry {
    let entry = entry(id, secret.count)
    let shared = SharedSecret(try SecretBytes(copying: secret.span))
    try await store.write(entry, shared, patience ?? self.patience())
    return entry
  }

  @discardableResult
  func set(_ id: EntryID, _ secret: String, _ patience: Patience? = nil) async throws -> Entry {
    try await set(id, Array(secret.utf8), patience)
  }

  func bytes(_ id: EntryID, _ patience: Patience? = nil) async throws -> [UInt8]? {
    guard let token = try await store.read(id, patience ?? self.patience()) else { return nil }
    return token.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }

  func get(_ id: EntryID, _ patience: Patience? = nil) async throws -> String? {
    try await bytes(id, patience).map { String(decoding: $0, as: UTF8.self) }
  }

  func clear(_ id: EntryID, _ patience: Patience? = nil) async throws -> Bool {
    try await store.remove(id, version: version, patience ?? self.patience())
  }

  /// The outcome of something that is to fail.
  func failure<Result>(_ body: @VaultActor () async throws -> Result) async -> VaultError? {
    do {
      _ = try await body()
      return nil
    } catch let error as VaultError {
      return error
    } catch let failure as WriteFailure {
      return failure.error
    } catch {
      return nil
    }
  }

  /// What came of a read, in a word: the value, `nil`, or the outcome.
  func word(_ id: EntryID, _ patience: Patience? = nil) async -> String {
    do {
      return try await get(id, patience) ?? "nil"
    } catch {
      return (error as? VaultError)?.outcome.rawValue ?? "\(error)"
    }
  }

  /// How a write that is to fail left the store.
  func writeFailure<Result>(_ body: @VaultActor () async throws -> Result) async -> WriteFailure? {
    do {
      _ = try await body()
      return nil
    } catch {
      return error as? WriteFailure
    }
  }
}

/// An id from a key that is known to be right.
func id(_ key: String, _ account: String = "") throws -> EntryID {
  EntryID(try Key(key), account.isEmpty ? .empty : try Account(account))
}

/// Runs a test with the bus to itself and a store, in order at its end.
func withStore(
  plainSession: Bool = false, _ body: @VaultActor @Sendable (StoreUnderTest, TestBus) async throws -> Void
) async throws {
  startVaultActor()
  try await TestBus.use { bus in
    let test = await StoreUnderTest(plainSession: plainSession)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(test, bus))
    } catch {
      result = .failure(error)
    }
    await test.store.close()
    try result.get()
  }
}

/// How long something took.
@VaultActor
func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
  let clock = ContinuousClock()
  let start = clock.now
  try await body()
  return clock.now - start
}

/// Does something so many times at once, and counts what came of it.
@VaultActor
func tally(_ count: Int, _ body: @escaping @VaultActor (Int) async -> String) async -> [String: Int] {
  let tasks = (0..<count).map { number in Task { @VaultActor in await body(number) } }
  var outcomes: [String: Int] = [:]
  for task in tasks { outcomes[await task.value, default: 0] += 1 }
  return outcomes
}
