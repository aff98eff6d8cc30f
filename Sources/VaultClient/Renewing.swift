// How a token is renewed properly, whatever the service: one caller at a time does it, the others wait for its
// token, nobody is handed an expired one, and what was renewed is not lost because the lease ended meanwhile.

import VaultModel
import VaultWire

extension Client {
  /// Hands out a token that is valid, and has it renewed where it isn't: by exactly one caller at a time, of all
  /// tasks and processes of this user. The others wait and get the new token.
  ///
  /// `renew` is called where nothing is stored, too: the first log-in is a renewal. What it returns is stored under the
  /// lease and handed out. Where it throws, or the task is cancelled, the lease is given up and the next caller's turn
  /// has come. It has 60 s; where it takes longer, what it returns is still stored unless somebody else has stored a
  /// token meanwhile, which is then handed out.
  ///
  /// - Parameters:
  ///   - id: whose.
  ///   - minValidity: how long the token must still be valid; parts of a second count as one. By default any time.
  ///   - wait: how long to wait for another caller's renewal; parts of a second count as one, and so does nothing.
  ///   - isolation: where `renew` runs: where the caller does.
  ///   - renew: gets a new token from the service. It is given the entry of the old one, where there is one, never
  ///     its secret: what is needed to renew is a key of its own.
  /// - Returns: the token.
  /// - Throws: what `renew` threw, as it is; `.unavailable` where another caller renews and `wait` is over; else the
  ///   outcome, a `VaultError`. Where a store refuses the new token, that is thrown, and the token is not stored.
  public func token(
    for id: EntryID, minValidity: Duration = .zero, wait: Duration = .seconds(Limits.refreshWaitSeconds),
    isolation: isolated (any Actor)? = #isolation, renew: (Entry?) async throws -> NewToken
  ) async throws -> Token {
    var renewed: NewToken?
    var tries = 0
    while true {
      let lease: Lease
      switch try await refresh(
        id, minValidity: minValidity.wholeSeconds, wait: max(1, wait.wholeSeconds ?? 1))
      {
      case .token(let token): return token
      case .lease(let granted): lease = granted
      }
      do {
        let token = if let renewed { renewed } else { try await renew(lease.entry) }
        renewed = token
        let entry = try await lease.set(token.request(for: id, inPlaceOf: lease.entry))
        return Token(entry: entry, secret: token.secret)
      } catch let error as VaultError
        where renewed != nil && error.leavesTheTokenToOthers && tries < Limits.renewalTries
      {
        tries += 1
      } catch {
        await lease.giveUp()
        throw error
      }
    }
  }

  /// The same in this thread, which `renew` may block. It has a name of its own because a closure that awaits nothing
  /// would fit both.
  /// - Parameters:
  ///   - id: whose.
  ///   - minValidity: how long the token must still be valid; parts of a second count as one. By default any time.
  ///   - wait: how long to wait for another caller's renewal; parts of a second count as one, and so does nothing.
  ///   - renew: gets a new token from the service.
  /// - Returns: the token.
  /// - Throws: what `renew` threw, as it is; else the outcome, a `VaultError`.
  public func blockingToken(
    for id: EntryID, minValidity: Duration = .zero, wait: Duration = .seconds(Limits.refreshWaitSeconds),
    renew: (Entry?) throws -> NewToken
  ) throws -> Token {
    var renewed: NewToken?
    var tries = 0
    while true {
      let lease: Lease
      switch try refresh(id, minValidity: minValidity.wholeSeconds, wait: max(1, wait.wholeSeconds ?? 1)) {
      case .token(let token): return token
      case .lease(let granted): lease = granted
      }
      do {
        let token = if let renewed { renewed } else { try renew(lease.entry) }
        renewed = token
        let entry = try lease.set(token.request(for: id, inPlaceOf: lease.entry))
        return Token(entry: entry, secret: token.secret)
      } catch let error as VaultError
        where renewed != nil && error.leavesTheTokenToOthers && tries < Limits.renewalTries
      {
        tries += 1
      } catch {
        lease.giveUp()
        throw error
      }
    }
  }
}

extension Client {
  /// Forgets a token that its service no longer takes, unless somebody has renewed it since: then the new one stays.
  /// - Parameter token: as it was read.
  /// - Throws: the outcome, where the vault may still hand it out.
  public func discard(_ token: Token) async throws(VaultError) {
    do throws(VaultError) {
      try await clear(token.entry.id, ifVersion: token.entry.version)
    } catch .conflict {
      // Another version is there, or none.
    }
  }

  /// Forgets a token that its service no longer takes, unless somebody has renewed it since: then the new one stays.
  /// - Parameter token: as it was read.
  /// - Throws: the outcome, where the vault may still hand it out.
  public func discard(_ token: Token) throws(VaultError) {
    do throws(VaultError) {
      try clear(token.entry.id, ifVersion: token.entry.version)
    } catch .conflict {
      // Another version is there, or none.
    }
  }
}

extension VaultError {
  /// Whether the lease was over before the new token was stored, or may have been: then what is stored now counts.
  fileprivate var leavesTheTokenToOthers: Bool {
    switch self {
    case .conflict, .noDaemon(.ended), .noDaemon(.broken): true
    case .notFound, .invalidArgument, .expired, .locked, .denied, .unavailable, .noDaemon, .damaged,
      .wrongPassphrase, .unsupportedVersion, .tooLarge, .internal:
      false
    }
  }
}

extension Duration {
  /// Seconds, rounded up; `nil` for zero and below, which is no duration to the daemon.
  fileprivate var wholeSeconds: Int64? {
    let (seconds, rest) = components
    let rounded = rest > 0 ? seconds.addingReportingOverflow(1).partialValue : seconds
    return rounded > 0 ? rounded : nil
  }
}
