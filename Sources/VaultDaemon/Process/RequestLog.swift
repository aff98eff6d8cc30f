// What one connection did, for the log: a line a request, with the program that asked, the key and the outcome.
// A program that reads the same token again and again gets one line at once and then one line a window that says
// how many times; everything else is a line of its own. Sees names and outcomes, never a secret.

import VaultCore
import VaultModel
import VaultWire

/// Writes what one connection asks for into the journal.
@VaultActor
final class RequestLog {
  private let journal: Journal
  private let peer: Peer

  private var isPrepared = false
  private var lastRead: EntryID?
  private var repeats = 0

  /// Nothing was asked yet.
  init(journal: Journal, peer: Peer) {
    self.journal = journal
    self.peer = peer
  }

  /// Asks the system about the peer while it waits for its answer: afterwards it may be gone.
  func prepare() {
    if isPrepared || journal.level < .info { return }
    isPrepared = true
    _ = peer.executable
    _ = peer.unit
  }

  /// A call was carried out, or failed.
  func note(_ call: Call, _ answer: Answer) {
    guard journal.level >= .info else { return }
    if case .get(let request) = call, case .reply = answer {
      if lastRead == request.id { return countRepeat() }
      writeGathered()
      lastRead = request.id
    } else {
      writeGathered()
    }
    write(call, answer)
  }

  /// A token was read.
  func note(read token: any SealedToken) {
    guard journal.level >= .info else { return }
    token.withTexts { key, account, _ in
      if let lastRead, lastRead.isOf(key: key, account: account) {
        countRepeat()
      } else if let id = EntryID(key: key, account: account) {
        note(.get(GetRequest(id: id)), .reply(.sealedToken(token)))
      }
    }
  }

  /// What was read last was read again.
  private func countRepeat() {
    if repeats == 0 { journal.gather(self) }
    repeats += 1
  }

  /// A frame was no call that could be carried out.
  func note(_ refusal: Refusal) {
    writeGathered()
    journal.line(.warning) { line in
      switch refusal {
      case .malformed: line.add("a request that is none was refused")
      case .service(let error, _): line.add("a request was refused: \(error.logName)")
      case .vault(let error, _): line.add("a request was refused: \(error.outcome.rawValue)")
      }
      addPeer(&line)
    }
  }

  /// The connection reached a limit.
  func note(limit: String) {
    writeGathered()
    journal.line(.warning) { line in
      line.add(limit)
      addPeer(&line)
    }
  }

  /// Writes the reads that were only counted so far. The next read of the same key is written at once again.
  func writeGathered() {
    defer {
      lastRead = nil
      repeats = 0
    }
    guard repeats > 0, let id = lastRead else { return }
    let times = repeats
    journal.line(.info) { line in
      line.add("get")
      add(id, to: &line)
      line.add("outcome", "ok")
      if times > 1 { line.add("times", times) }
      addPeer(&line)
    }
  }

  private func write(_ call: Call, _ answer: Answer) {
    journal.line(answer.level) { line in
      line.add(call.logName)
      switch call.subject {
      case .entry(let id): add(id, to: &line)
      case .key(let key): line.add("key", key.text)
      case .namespace(let namespace): line.add("namespace", namespace.text)
      case .slot(let number): line.add("slot", number)
      case .nothing: break
      }
      switch answer {
      case .reply: line.add("outcome", "ok")
      case .failed(let error):
        line.add("outcome", error.outcome.rawValue)
        if let reason = error.logReason { line.add("reason", reason) }
      case .refused(let error): line.add("outcome", error.logName)
      }
      addPeer(&line)
    }
  }

  private func add(_ id: EntryID, to line: inout LogLine) {
    line.add("key", id.key.text)
    if id.account != .empty { line.add("account", id.account.text) }
  }

  private func addPeer(_ line: inout LogLine) {
    line.add("pid", peer.pid)
    line.add("exe", peer.executable)
    if !peer.unit.isEmpty { line.add("unit", peer.unit) }
  }
}

/// What a call is about, as far as the log shows it.
private enum Subject {
  case entry(EntryID)
  case key(Key)
  case namespace(Namespace)
  case slot(Int64)
  case nothing
}

extension Call {
  fileprivate var logName: String {
    switch self {
    case .getInfo: "get-info"
    case .getInterfaceDescription: "get-interface-description"
    case .get: "get"
    case .set: "set"
    case .clear: "clear"
    case .clearNamespace: "clear-namespace"
    case .list: "list"
    case .touch: "touch"
    case .watch: "watch"
    case .refresh: "refresh"
    case .giveUp: "give-up"
    case .initialise: "init"
    case .lock: "lock"
    case .unlock: "unlock"
    case .slots: "slots"
    case .addSlot: "add-slot"
    case .removeSlot: "remove-slot"
    case .verify: "verify"
    case .status: "status"
    }
  }

  fileprivate var subject: Subject {
    switch self {
    case .get(let request): .entry(request.id)
    case .set(let request): .entry(request.id)
    case .clear(let id, _): .entry(id)
    case .touch(let id): .entry(id)
    case .refresh(let id, _, _): .entry(id)
    case .clearNamespace(let namespace, _): .namespace(namespace)
    case .list(let namespace): namespace.map(Subject.namespace) ?? .nothing
    case .watch(let namespace, let key):
      key.map(Subject.key) ?? namespace.map(Subject.namespace) ?? .nothing
    case .removeSlot(let number): .slot(number)
    case .getInfo, .getInterfaceDescription, .giveUp, .initialise, .lock, .unlock, .slots, .addSlot, .verify,
      .status:
      .nothing
    }
  }
}

extension Answer {
  fileprivate var level: Journal.Level {
    if case .failed(.internal) = self { .error } else { .info }
  }
}

extension VaultError {
  /// Why, where the outcome and the key don't say it already.
  fileprivate var logReason: String? {
    switch self {
    case .notFound, .expired, .conflict, .wrongPassphrase, .unsupportedVersion, .tooLarge: nil
    case .invalidArgument, .locked, .denied, .unavailable, .noDaemon, .damaged, .internal: description
    }
  }
}

extension ServiceError {
  fileprivate var logName: String {
    switch self {
    case .interfaceNotFound: "InterfaceNotFound"
    case .methodNotFound: "MethodNotFound"
    case .methodNotImplemented: "MethodNotImplemented"
    case .invalidParameter: "InvalidParameter"
    case .permissionDenied: "PermissionDenied"
    case .expectedMore: "ExpectedMore"
    }
  }
}
