// A server as the daemon has it, over a real vault whose stores are in memory, with a clock that the test moves.

import CLinux
import Foundation
import SecretMemory
import TestSupport
import VaultCore
import VaultModel

@testable import VaultDaemon

/// A server and what it stands on.
@VaultActor
final class Reception {
  let clock = SettableClock()
  let alarms: Alarms
  let file = SlowFile()
  let vault: Vault
  let server: Server
  let selfLock: SelfLock

  /// A server without connections.
  nonisolated convenience init() async throws {
    try await self.init(loop: RealLoop.get())
  }

  private init(loop: EventLoop) throws {
    alarms = clock.alarms
    vault = Vault(
      preference: .file, secretService: FakeProvider(), file: file, session: FakeSession(),
      state: FakeState(), clock: clock)
    let journal = Journal(level: .error, showsPriorities: false, output: -1, clock: clock, alarms: alarms)
    let vault = vault
    let dispatch = Dispatch(vault: vault) {
      DaemonStatus(
        version: "0", pid: 1, since: WallTime(seconds: 1), preference: .file, stores: vault.storeStatuses,
        protections: [:])
    }
    selfLock = SelfLock(vault: vault, clock: clock, alarms: alarms, journal: journal)
    server = try Server(
      loop: loop, clock: clock, alarms: alarms, dispatch: dispatch, journal: journal, idle: selfLock.idle)
  }

  /// A caller that is connected.
  func connect() throws -> Caller {
    let server = server
    return try Caller.pair { server.take($0) }
  }

  /// Keeps a secret of `size` bytes under `key`.
  func put(_ key: String, size: Int) throws {
    let id = EntryID(try Key(key))
    let secret = SharedSecret(try SecretBytes(copying: String(repeating: "s", count: size)))
    let entry = Entry(
      id: id, version: 1, created: clock.wall, modified: clock.wall, size: size, store: .file)
    file.inner.items[id] = Token(entry: entry, secret: secret)
  }

  private var kept: [AnyObject] = []

  /// Keeps something as long as it lives itself.
  func keep(_ object: AnyObject) { kept.append(object) }

  private(set) var hasEnded = false

  /// Begins the end.
  func end() {
    server.end { [weak self] in self?.hasEnded = true }
  }

  /// Lets the loop work until `condition` holds, or for a moment.
  func settle(until condition: @VaultActor () -> Bool) async {
    for _ in 0..<500 where !condition() { try? await Task.sleep(for: .microseconds(200)) }
  }

  /// Time passes, and what is due happens.
  func pass(milliseconds: Int64) {
    clock.pass(milliseconds: milliseconds)
    alarms.ring()
  }
}

/// A call for the secret under `key`.
func get(_ key: String) -> String {
  #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"\#(key)"}}"#
}

/// A call that keeps `secret` under `key`.
func set(_ key: String, _ secret: String = "s", oneway: Bool = false) -> String {
  #"{"method":"org.vaultd.Vault.Set","oneway":\#(oneway),"parameters":{"key":"\#(key)","secret":"\#(secret)"}}"#
}

/// A call that removes the secret under `key`.
func clear(_ key: String) -> String {
  #"{"method":"org.vaultd.Vault.Clear","parameters":{"key":"\#(key)"}}"#
}

extension SlowFile {
  /// Has writes wait from now on.
  func hold() {
    isHolding = true
  }
}

extension Server {
  /// Whether no connection has memory of its own.
  var isHoldingNothing: Bool { buffered == 0 }
}
