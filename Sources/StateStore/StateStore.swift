// `state.db`: what is known of the keys in the Secret Service. The vault asks it on the main thread and waits
// for its file thread with every change. Holds names and numbers, never a secret. Where it cannot be kept it
// says so, and where it was damaged it is moved aside and begun anew: the provider is believed then
// (behaviour.md, "The two stores").

import Database
import VaultCore
import VaultModel

/// The state in the data folder.
@VaultActor
public final class StateStore: State {
  private let folder: DataFolder
  private let clock: any Clock
  private var reader: StateReader?
  private var commits: GroupCommit<StateTables>?
  private let tally = StateTally()
  private var failure: VaultError?
  /// Whether the folder could not be had, and is tried again.
  private var lacksFolder = false

  /// What the user has to be told of how the state was found; `nil` where there is nothing. For the log.
  public private(set) var notice: String?

  /// The state in `folder`: made where it is not there. What goes wrong is `trouble`.
  public init(folder: DataFolder, clock: any Clock) {
    self.folder = folder
    self.clock = clock
    lacksFolder = folder.fault != nil
    do throws(VaultError) { try open() } catch { failure = error }
  }

  /// The daemon that had the folder may be gone by now.
  private func tryFolderAgain() {
    guard lacksFolder, folder.tryAgain(at: clock.boot) else { return }
    (lacksFolder, failure) = (false, nil)
    do throws(VaultError) { try open() } catch { failure = error }
  }

  private func open() throws(VaultError) {
    do throws(VaultError) {
      guard try Blueprint.state.examine(in: folder) != nil else { return try begin() }
      try openFile()
    } catch {
      guard case .damaged(_, let reason) = error else { throw error }
      reader = nil
      let aside = try Blueprint.state.moveAside(in: folder, at: clock.wall)
      notice = "\(reason); it is now \(aside), and what the keyring has is believed"
      try begin()
    }
  }

  private func begin() throws(VaultError) {
    // In a folder that cannot be written nothing is known, and nothing will be.
    guard folder.isWritable else { return }
    try Blueprint.state.make(in: folder) { connection throws(DatabaseFault) in
      try connection.execute("INSERT INTO state (id, highest, provider, latest) VALUES (1, 0, 0, 0)")
    }
    try openFile()
  }

  private func openFile() throws(VaultError) {
    let (folder, blueprint, tally) = (folder, Blueprint.state, tally)
    let path = folder.path(of: blueprint.name)
    var numbers: StateNumbers?
    try Place.state.judge { () throws(DatabaseFault) in
      let connection = try Connection(path, .read, layer: folder.layer)
      let format = try blueprint.format(connection)
      guard format <= blueprint.format else {
        failure = .unavailable(
          store: .state,
          reason: "\(path) was written by a newer vaultd (format \(format)): install that again")
        return
      }
      guard try blueprint.hasItsTables(connection) else { return }
      let reader = try StateReader(connection)
      guard try reader.isConsistent() else { return }
      numbers = try reader.count()
      self.reader = reader
    }
    if let failure { throw failure }
    guard let numbers else {
      throw .damaged(store: .state, reason: "\(path) is damaged")
    }
    tally.committed = numbers
    commits = GroupCommit(name: "state") { () throws(CommitFailure) in
      do throws(DatabaseFault) {
        let access: Connection.Access = folder.isWritable ? .write : .read
        let connection = try Connection(path, access, layer: folder.layer)
        let tables = try StateTables(connection, FileWatch(blueprint, in: folder), tally)
        return try GroupCommit<StateTables>.Opened(connection, tables)
      } catch {
        throw .database(error)
      }
    }
  }

  // MARK: State

  public var trouble: VaultError? {
    tryFolderAgain()
    if let failure { return failure }
    do throws(VaultError) {
      try Place.state.judge { () throws(FolderFault) in try folder.checkWritable() }
      return nil
    } catch {
      return error
    }
  }

  public var highestVersion: Version { present.highest }

  public var providerAnswered: Bool { present.providerAnswered }

  // Of one that can't be read nobody knows what it holds.
  public var isEmpty: Bool { present.records == 0 && failure == nil }

  public var isBlank: Bool { tally.isBlank }

  public var presentCount: Int { present.present }

  public var removalCount: Int { present.removals }

  /// What is on the disk, in numbers. Whoever asks may be the first since the folder can be had.
  private var present: StateNumbers {
    tryFolderAgain()
    return tally.committed
  }

  public func record(_ id: EntryID) throws(VaultError) -> StateRecord? {
    tryFolderAgain()
    if let failure { throw failure }
    return try reader?.record(id)
  }

  public func records(_ namespace: Namespace?) throws(VaultError) -> [StateRecord] {
    tryFolderAgain()
    if let failure { throw failure }
    return try reader?.records(namespace) ?? []
  }

  public func keep(_ record: StateRecord) async throws(VaultError) {
    try await commit(.keep(record))
  }

  public func drop(_ id: EntryID, version: Version) async throws(VaultError) {
    try await commit(.drop(id, version: version))
  }

  public func noteProvider() async throws(VaultError) {
    if !providerAnswered { try await commit(.noteProvider) }
  }

  public var latestTime: WallTime { present.latest }

  public func noteTime() async throws(VaultError) {
    try await commit(.noteTime)
  }

  public var namespaceRemovals: [NamespaceRemoval] { present.namespaceRemovals }

  public func keep(_ removal: NamespaceRemoval) async throws(VaultError) {
    try await commit(.keepRemoval(removal))
  }

  public func drop(_ removal: NamespaceRemoval) async throws(VaultError) {
    try await commit(.dropRemoval(removal))
  }

  /// Ends the store in order: what was begun is on the disk, and the files are closed.
  public func close() async {
    let commits = commits
    (reader, self.commits, lacksFolder) = (nil, nil, false)
    failure = .unavailable(store: .state, reason: "vaultd is ending")
    await commits?.end()
    tally.doubt()
  }

  private func commit(_ change: StateChange) async throws(VaultError) {
    if let trouble { throw trouble }
    // The folder could not be written when the daemon started, and can be now.
    if commits == nil { try begin() }
    guard let commits else { throw .unavailable(store: .state, reason: "\(folder.path) cannot be written") }
    if let failure = await commits.commit(DatedChange(change: change, at: clock.wall)) {
      throw failure.outcome(in: .state)
    }
  }
}
