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
    do throws(VaultError) {
      return try attempt(call)
    } catch {
      throw Failure(error)
    }
  }

  /// The same, with the client's own error, for those that go on after one.
  func attempt(_ call: Call) throws(VaultError) -> Reply {
    do throws(VaultError) {
      return try client.exchange(call)
    } catch .noDaemon(.nobodyListens(let socket)) where mayStart {
      do throws(Failure) {
        try Autostart.start(socket: socket)
      } catch {
        throw .noDaemon(.notStarted(reason: error.text))
      }
      return try retry(call, socket: socket)
    }
  }

  /// Asks again until the daemon that was just started listens.
  private func retry(_ call: Call, socket: String) throws(VaultError) -> Reply {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(Limits.startSeconds))
    var pause: useconds_t = 500
    while true {
      do throws(VaultError) {
        return try client.exchange(call)
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
