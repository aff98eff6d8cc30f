// The daemon as subcommands see it: one call after the other, and a daemon that is started where none listens
// and the subcommand allows it. What a daemon does not answer is never a reason to start another.

import Glibc
import VaultClient
import VaultWire

/// Makes calls.
struct Daemon {
  private let client: Client
  private let mayStart: Bool

  /// The daemon that the environment names.
  /// - Parameter mayStart: whether one may be started.
  /// - Throws: where the environment names no place for a socket.
  init(mayStart: Bool) throws(Failure) {
    do throws(VaultError) {
      client = try Client()
    } catch {
      throw Failure(error)
    }
    self.mayStart = mayStart
  }

  /// Makes a call that has one reply.
  func call(_ call: Call) throws(Failure) -> Reply {
    try ask { client throws(VaultError) in try client.exchange(call) }
  }

  /// The same, with the error as it came, for those that go on after one.
  func attempt(_ call: Call) throws(VaultError) -> Reply {
    try attempt { client throws(VaultError) in try client.exchange(call) }
  }

  /// Asks the daemon something.
  func ask<Answer>(_ question: (Client) throws(VaultError) -> Answer) throws(Failure) -> Answer {
    do throws(VaultError) {
      return try attempt(question)
    } catch {
      throw Failure(error)
    }
  }

  /// The same. Where the vault file is locked and a person is there, asks once for its passphrase.
  /// - Parameters:
  ///   - mayAsk: whether somebody may be asked.
  ///   - question: what to ask the daemon, once or twice.
  /// - Returns: the answer.
  /// - Throws: the outcome.
  func askUnlocked<Answer>(
    mayAsk: Bool, _ question: (Client) throws(VaultError) -> Answer
  ) throws(Failure) -> Answer {
    do throws(VaultError) {
      return try attempt(question)
    } catch .locked(store: .file, let reason) where mayAsk && StandardStreams.canAsk {
      StandardStreams.tell(reason)
      let passphrase = try askPassphrase("Passphrase of the vault file")
      guard case .empty = try call(.unlock(.passphrase(passphrase))) else { throw unexpectedReply() }
      return try ask(question)
    } catch {
      throw Failure(error)
    }
  }

  /// Asks; starts a daemon where none listens and that is allowed.
  private func attempt<Answer>(
    _ question: (Client) throws(VaultError) -> Answer
  ) throws(VaultError) -> Answer {
    do throws(VaultError) {
      return try question(client)
    } catch .noDaemon(.nobodyListens(let socket)) where mayStart {
      do throws(Failure) {
        try Autostart.start(socket: socket)
      } catch {
        throw .noDaemon(.notStarted(reason: error.text))
      }
      return try retry(question, socket: socket)
    }
  }

  /// Asks again until the daemon that was just started listens.
  private func retry<Answer>(
    _ question: (Client) throws(VaultError) -> Answer, socket: String
  ) throws(VaultError) -> Answer {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(Limits.startSeconds))
    var pause: useconds_t = 500
    while true {
      do throws(VaultError) {
        return try question(client)
      } catch .noDaemon(.nobodyListens) where clock.now < end {
        usleep(pause)
        pause = min(2 * pause, 20_000)
      } catch .noDaemon(.nobodyListens) {
        throw .noDaemon(
          .notStarted(
            reason: "vaultd was started and did not listen on \(socket) within \(Limits.startSeconds) s; "
              + "run vaultd in a terminal to see why"))
      }
    }
  }
}

/// What a reply of another shape than the call's ends in. The client has read it as a reply to the call.
func unexpectedReply() -> Failure {
  Failure(.internal, "a bug of vault: a reply of another shape than the call's; please report it")
}
