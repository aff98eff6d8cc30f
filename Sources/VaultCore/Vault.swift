// The vault: it decides. Which store a key belongs to, which version a change gets, whether a request may be
// carried out at all. It stands between the call and the stores; it touches no file and no bus, keeps of secrets only
// what was read in the last second, shielded, and writes nothing that a store does not hold encrypted.
//
// The rule from which the routing follows: of all that is known of a key — its record in the file or in the session
// store, the word of `state.db` about the Secret Service — the highest version is the last acknowledged change, and
// only that counts. So a copy that could not be removed, because the file was locked or the provider away, is older
// than the word about it and can never be read again.

import Synchronization
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
  public var preference: StorePreference { didSet { noteWhoAnswers() } }
  /// How long requests may take.
  public var timeouts: Timeouts

  let secretService: any ObservedStore
  let file: any VaultFile
  let session: any SessionKeeper
  let state: any State
  let clock: any Clock
  let deadlines: Deadlines
  let turns = Turns<EntryID>()
  /// Opening the file, making it and changing its slots: each judges what the one before it left.
  let fileTurns = Turns<StoreName>()
  let leases: Leases
  let watchers = Watchers()

  /// Whether `lock` was called and `unlock` was not.
  public internal(set) var isLocked = false { didSet { noteWhoAnswers() } }

  /// Whether the vault is open and the settings let its file answer: asked by every get.
  var fileMayAnswer: Bool { mayAnswer.load(ordering: .relaxed) }
  private let mayAnswer = Atomic(false)

  // What was read from the Secret Service, and what is being read.
  let cache: TokenCache
  var reads: [SharedRead.Name: SharedRead] = [:]

  /// Whether what is owed to the Secret Service is being done; after a failure, not again before `settleAgainAt`.
  var isSettling = false
  var settleAgainAt = BootTime(milliseconds: 0)
  var settleWait = Limits.settleMilliseconds
  /// Keys with a write whose outcome is unknown.
  var unsettled: Set<EntryID> = []

  /// Counts changes of any key, so that who looked and then acts can tell that something came in between.
  var changeCount: UInt64 = 0

  // Expiry: last uses that are not written down everywhere, what is due, and how steady the clock is.
  var uses: [EntryID: Moment] = [:]
  var recordingUse: Set<EntryID> = []
  var scheduled = Schedule()
  var expiryOrdered: BootTime?
  var toldExpired: [EntryID: Version] = [:]
  var clockOffset: Int64
  var steadySince: BootTime
  var isNotingTime = false

  private var lastVersion: Version = 0

  /// A vault over these stores. Call `start` before the first request.
  public init(
    preference: StorePreference, secretService: any ObservedStore, file: any VaultFile,
    session: any SessionKeeper, state: any State, clock: any Clock, timeouts: Timeouts = Timeouts()
  ) {
    self.preference = preference
    self.secretService = secretService
    self.file = file
    self.session = session
    self.state = state
    self.clock = clock
    self.timeouts = timeouts
    cache = TokenCache(alarms: clock.alarms)
    leases = Leases(clock: clock)
    deadlines = Deadlines(clock: clock) { secretService.isPrompting }
    clockOffset = clock.wall.milliseconds - clock.boot.milliseconds
    steadySince = clock.boot
    noteWhoAnswers()
  }

  private func noteWhoAnswers() {
    mayAnswer.store(!isLocked && preference != .secretService, ordering: .relaxed)
  }

  /// Opens the vault file where a key file or a credential does, and removes what earlier runs had to leave.
  /// A file that stays locked or is damaged is no failure: requests that need it will say so.
  public func start() async {
    watchSecretService()
    file.onOpened = { [weak self] in await self?.opened() }
    for record in (try? state.records(nil)) ?? [] where record.intent != nil { unsettled.insert(record.id) }
    // What keeps a store closed is its own status, and the outcome of every request that needs it.
    try? await session.unlock()
    if file.exists { try? await file.unlock(nil, patience(interactive: false)) }
    await opened()
  }

  /// A store of ours was opened: what had to be left is removed, and what has an end is noted. Requests do not wait for
  /// the latter: whether an entry is over is judged anew by each of them.
  func opened() async {
    await carryOutNamespaceRemovals()
    await removeStaleCopies()
    Task { await scheduleAll() }
  }

  /// Nobody asks at present: gives back memory that only makes it faster.
  public func rest() {
    file.rest()
    session.rest()
  }

  // MARK: What requests have in common

  func patience(interactive: Bool) -> Patience {
    let now = clock.boot
    return Patience(
      deadline: now.advanced(by: Int64(timeouts.plain) * 1_000),
      promptDeadline: now.advanced(by: Int64(timeouts.prompt) * 1_000), interactive: interactive)
  }

  /// The outcome of a request that did not come to its end.
  func late(_ place: Place, _ id: EntryID?, isChange: Bool) -> VaultError {
    let what = id.map { "\($0)" } ?? "the request"
    return .unavailable(
      store: place,
      reason: isChange
        ? "\(what): the change did not end in time and may still take effect; read it to see"
        : "\(what): no answer within \(timeouts.plain) s; see `vault status`")
  }

  /// A change waited so long for its turn that whoever asked for it was told so: it is not begun.
  func requireTime(_ life: Life, _ id: EntryID?) throws(VaultError) {
    if life.isOver { throw late(.vault, id, isChange: false) }
  }

  /// The patience of a request that waited for its turn behind a prompt: it has time of its own again, as long as a
  /// prompt may last.
  func renewed(_ patience: Patience) -> Patience {
    guard patience.interactive, clock.boot >= patience.deadline else { return patience }
    var renewed = self.patience(interactive: true)
    renewed.promptDeadline = patience.promptDeadline
    renewed.deadline = min(renewed.deadline, patience.promptDeadline)
    return renewed
  }

  /// The version of the next change: larger than any ever given, and by and large the time.
  func nextVersion() -> Version {
    let highest = max(lastVersion, file.highestVersion, session.highestVersion, state.highestVersion)
    lastVersion = max(highest < .max ? highest + 1 : highest, clock.wall.milliseconds)
    return lastVersion
  }

  func requireUnlocked() throws(VaultError) {
    if isLocked {
      throw .locked(store: .vault, reason: "the vault is locked; `vault unlock` opens it")
    }
  }

  /// A key was changed, and that is acknowledged: nothing that was read before counts, and who watches is told.
  func changed(_ id: EntryID, _ kind: VaultEvent.Kind, _ version: Version, in store: StoreName?) {
    forgetRead(id)
    forgetTime(of: id)
    changeCount += 1
    noteTime()
    watchers.tell(VaultEvent(kind, id: id, version: version, store: store))
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
