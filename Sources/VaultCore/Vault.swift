// The vault: it decides. Which store a key belongs to, which version a change gets, whether a request may be
// carried out at all. It stands between the call and the stores; it keeps no secret itself, touches no file
// and no bus, and writes nothing that a store does not hold encrypted.
//
// The rule from which the routing follows: of all that is known of a key — its record in the file, the word
// of `state.db` about the Secret Service — the highest version is the last acknowledged change, and only that
// counts. So a copy that could not be removed, because the file was locked or the provider away, is older
// than the word about it and can never be read again.

import VaultModel

/// How long requests may take, in seconds.
public struct Timeouts: Hashable, Sendable {
  /// Without a prompt.
  public var plain: Int
  /// With a prompt on the user's screen.
  public var prompt: Int

  /// These limits; without arguments those of `Limits`.
  public init(plain: Int = Limits.timeout, prompt: Int = Limits.promptTimeout) {
    self.plain = plain
    self.prompt = prompt
  }
}

/// The tokens of one user, in whichever store they are.
@VaultActor
public final class Vault {
  /// Where new tokens go.
  public var preference: StorePreference
  /// How long requests may take.
  public var timeouts: Timeouts

  let secretService: any ObservedStore
  let file: any VaultFile
  let state: any State
  let clock: any Clock
  let turns = Turns<EntryID>()
  /// Making the file and changing its slots: each judges what the one before it left.
  let fileTurns = Turns<StoreName>()

  /// Whether `lock` was called and `unlock` was not.
  public internal(set) var isLocked = false

  /// Whether what is owed to the Secret Service is being done; after a failure, not again before `settleAgainAt`.
  var isSettling = false
  var settleAgainAt = BootTime(milliseconds: 0)

  private var lastVersion: Version = 0

  /// A vault over these stores. Call `start` before the first request.
  public init(
    preference: StorePreference, secretService: any ObservedStore, file: any VaultFile, state: any State,
    clock: any Clock, timeouts: Timeouts = Timeouts()
  ) {
    self.preference = preference
    self.secretService = secretService
    self.file = file
    self.state = state
    self.clock = clock
    self.timeouts = timeouts
  }

  /// Opens the vault file where a key file or a credential does, and removes what earlier runs had to leave.
  /// A file that stays locked or is damaged is no failure: requests that need it will say so.
  public func start() async {
    watchSecretService()
    guard file.exists else { return }
    do {
      try await file.unlock(nil, patience(interactive: false))
      await removeStaleCopies()
    } catch {
      // What keeps it closed is the file's own status, and the outcome of every request that needs it.
    }
  }

  // MARK: What requests have in common

  func patience(interactive: Bool) -> Patience {
    let now = clock.boot
    return Patience(
      deadline: now.advanced(by: Int64(timeouts.plain) * 1_000),
      promptDeadline: now.advanced(by: Int64(timeouts.prompt) * 1_000), interactive: interactive)
  }

  /// The version of the next change: larger than any ever given, and by and large the time.
  func nextVersion() -> Version {
    let highest = max(lastVersion, file.highestVersion, state.highestVersion)
    lastVersion = max(highest < .max ? highest + 1 : highest, clock.wall.milliseconds)
    return lastVersion
  }

  func requireUnlocked() throws(VaultError) {
    if isLocked {
      throw .locked(store: .vault, reason: "the vault is locked; `vault unlock` opens it")
    }
  }

  /// Remembers that a provider answered: from now on unknown keys belong to the Secret Service. Whatever is
  /// owed to it can be done now.
  func noteProvider() async {
    settle()
    if !state.providerAnswered {
      // Where this can't be written, neither can anything be set; nothing is lost by asking again.
      try? await state.noteProvider()
    }
  }
}
