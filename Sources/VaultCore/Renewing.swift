// Renewal (behaviour.md, "Renewal"): of all who find too little validity left, one renews and the others wait. No
// expired secret is handed out on the way. Reads as `Reading` does, and writes nothing.

import SecretMemory
import VaultCrypto
import VaultModel

extension Vault {
  /// The token, where enough of its time is left or somebody renewed it meanwhile; else the lease to renew it.
  /// - Parameters:
  ///   - request: what is asked for.
  ///   - caller: whose the lease is going to be.
  /// - Throws: `.unavailable` where somebody else renews and does not come to an end in the time that the request
  ///   gives, and what `get` throws, apart from `.notFound` and `.expired`: then a lease is granted.
  /// - Returns: the token, or a lease.
  public func refresh(_ request: RefreshRequest, caller: CallerID) async throws(VaultError) -> Renewal {
    leases.begin(caller)
    defer { leases.end(caller) }
    let wait = request.wait ?? Int64(Limits.refreshWaitSeconds)
    let end = clock.boot.advanced(by: wait * 1_000)
    var wasRenewed = false
    while true {
      let (token, _) = try await present(request.id)
      if let token, wasRenewed || isEnough(token, request) {
        noteUse(of: token.entry)
        return .token(token)
      }
      if leases.isGone(caller) { throw leftMeanwhile(request.id) }
      if !leases.isHeld(request.id) {
        // In a turn: a change that is under way ends the lease of its key once it is done, and this one would be of
        // before it.
        let renewal = try await turns.take(request.id) { () async throws(VaultError) in
          try await self.grantInTurn(request, caller)
        }
        if let renewal { return renewal }
        continue
      }
      switch await leases.wait(request.id, caller, until: end) {
      case .renewed: wasRenewed = true
      case .ended: wasRenewed = false
      case .left: throw leftMeanwhile(request.id)
      case .timedOut:
        throw .unavailable(
          store: .vault,
          reason: "another client renews \(request.id) and did not end within \(wait) s; try again")
      }
    }
  }

  /// The lease; or the token, where one that does has come since; `nil` where somebody else was faster.
  private func grantInTurn(
    _ request: RefreshRequest, _ caller: CallerID
  ) async throws(VaultError) -> Renewal? {
    let (token, entry) = try await present(request.id, inTurn: true)
    if let token, isEnough(token, request) {
      noteUse(of: token.entry)
      return .token(token)
    }
    if leases.isGone(caller) { throw leftMeanwhile(request.id) }
    if leases.isHeld(request.id) { return nil }
    let name = try leaseName()
    leases.grant(request.id, name, to: caller)
    return .lease(name, entry: entry)
  }

  /// Whether enough is left of a token's time.
  private func isEnough(_ token: Token, _ request: RefreshRequest) -> Bool {
    let left = validity(token.entry).milliseconds ?? .max
    return left >= (request.minValidity ?? 0) * 1_000
  }

  /// Ends a lease without a new token; does nothing where it has ended.
  public func giveUp(_ lease: String) {
    leases.giveUp(lease)
  }

  /// The caller's connection ended: so do its leases, and its requests that wait for somebody else's.
  public func left(_ caller: CallerID) {
    leases.left(caller)
  }

  /// The token where there is one that is not over, and the entry of what is there.
  private func present(_ id: EntryID, inTurn: Bool = false) async throws(VaultError) -> (Token?, Entry?) {
    do throws(VaultError) {
      let token = try await unjudged(GetRequest(id: id), inTurn: inTurn)
      return (validity(token.entry).milliseconds == 0 ? nil : token, token.entry)
    } catch {
      if case .notFound = error { return (nil, nil) }
      throw error
    }
  }

  private func leaseName() throws(VaultError) -> String {
    do throws(CryptoError) {
      let random = try SecretBytes(random: 16)
      return random.withBytes { bytes in
        var text = ""
        for index in bytes.indices {
          text += String(bytes[index] >> 4, radix: 16) + String(bytes[index] & 15, radix: 16)
        }
        return text
      }
    } catch {
      throw VaultError(error, in: .vault)
    }
  }

  private func leftMeanwhile(_ id: EntryID) -> VaultError {
    .unavailable(store: .vault, reason: "the client that asked for \(id) has left")
  }
}
