// Frame to reply, in a client: makes again what `Reply.write` and `writeReply` wrote, from bytes that may
// come from a newer daemon (members that we don't know are passed over) or from no daemon of ours at all.
// Does no I/O and keeps nothing of a frame; a secret goes from the frame into `SharedSecret`.

import SecretMemory
import VaultModel

/// Why a call has no reply.
public enum ReplyFailure: Error, Sendable {
  /// The daemon answered with an error of `org.vaultd.Vault`, or this process has no memory for the answer.
  case vault(VaultError)
  /// The daemon answered with an error of `org.varlink.service`.
  case service(ServiceError)
  /// What came is no reply to the call.
  case malformed
}

/// Reads replies from frames. Keeps its tape between calls.
public struct ReplyReader: ~Copyable {
  private var tape = Tape()

  /// A reader without memory yet.
  public init() {}

  /// Reads the reply to `call` in `frame`, which is the frame without the NUL at its end. The frame is parsed
  /// in place and holds rubbish and pieces of secrets afterwards, for the caller to wipe.
  /// - Returns: the reply, and whether more of them follow.
  public mutating func read(
    _ frame: inout MutableSpan<UInt8>, to call: Call
  ) throws(ReplyFailure) -> (reply: Reply, continues: Bool) {
    let result: Result<(reply: Reply, continues: Bool), ReplyFailure>
    do {
      result = try tape.read(&frame, tokenLimit: Limits.replyTokens) { document in
        do throws(ReplyFailure) {
          return .success(try document.reply(to: call.method))
        } catch {
          return .failure(error)
        }
      }
    } catch {
      switch error {
      case .malformed: throw .malformed
      case .noMemory: throw .vault(.unavailable(store: .vault, reason: "no memory to read the answer"))
      }
    }
    return try result.get()
  }
}

extension Document {
  fileprivate func reply(to method: Method) throws(ReplyFailure) -> (reply: Reply, continues: Bool) {
    let failure: ReplyFailure
    do throws(Misfit) {
      let outer = try fields(of: root, [.error, .parameters, .continues], others: .ignored)
      let parameters = value(.parameters, outer)
      guard let name = try stringToken(.error, outer) else {
        return (try reply(to: method, parameters), try flag(.continues, outer) ?? false)
      }
      failure = try self.failure(named: string(name), parameters)
    } catch {
      failure = error.replyFailure
    }
    throw failure
  }
}

extension Misfit {
  /// In a reply.
  fileprivate var replyFailure: ReplyFailure {
    if case .value(.unavailable) = self, case .value(let noMemory) = self { return .vault(noMemory) }
    return .malformed
  }
}
