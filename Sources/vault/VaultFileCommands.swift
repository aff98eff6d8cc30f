// `vault init`, `lock`, `unlock` and `verify`: the vault file as a whole.

import VaultClient
import VaultWire

func initialiseCommand(_ invocation: Invocation) throws(Failure) {
  try allowOne(of: [.passphraseFile, .keyFile, .credential], invocation)
  let key: SlotKey
  if let path = invocation[.passphraseFile] {
    key = .passphrase(try readPassphrase(path))
  } else if let path = invocation[.keyFile] {
    key = .keyFile(try absolutePath(path, Flag.keyFile.rawValue))
  } else if let name = invocation[.credential] {
    guard !name.isEmpty else { throw .usage("--credential is empty", invocation.command) }
    key = .credential(name)
  } else {
    guard StandardStreams.canAsk else {
      throw Failure(
        .invalidArgument,
        "there is no terminal to ask for a passphrase on; use --passphrase-file, --key-file or --credential")
    }
    key = .passphrase(try askNewPassphrase())
  }
  guard case .empty = try Daemon(mayStart: true).call(.initialise(key)) else { throw unexpectedReply() }
  try StandardStreams.write("the vault file is made and unlocked\n" + notice(about: key))
}

/// What a key that lies somewhere does and does not protect against, in one line; nothing for a passphrase.
func notice(about key: SlotKey) -> String {
  switch key {
  case .passphrase: ""
  case .keyFile(let path):
    "the key in \(printable(path)) protects copies of the vault file that are taken without it, as in backups, "
      + "and not against programs of yours or anybody who has both files\n"
  case .credential(let name):
    "the credential \(printable(name)) protects copies of the vault file that are taken without it, as in backups, "
      + "and not against anybody whom systemd gives it to\n"
  }
}

func lockCommand() throws(Failure) {
  guard case .empty = try Daemon(mayStart: false).call(.lock) else { throw unexpectedReply() }
}

func unlockCommand(_ invocation: Invocation) throws(Failure) {
  try allowOne(of: [.passphraseFile, .keyFile], invocation)
  let daemon = try Daemon(mayStart: true)
  let reply: Reply
  if let path = invocation[.passphraseFile] {
    reply = try daemon.call(.unlock(.passphrase(try readPassphrase(path))))
  } else if let path = invocation[.keyFile] {
    reply = try daemon.call(.unlock(.keyFile(try absolutePath(path, Flag.keyFile.rawValue))))
  } else {
    do throws(VaultError) {
      reply = try daemon.attempt(.unlock(nil))
    } catch .locked {
      guard StandardStreams.canAsk else {
        throw Failure(
          .locked,
          "no key file or credential opens the vault file, and there is no terminal to ask for a passphrase on; "
            + "use --passphrase-file")
      }
      let passphrase = try askPassphrase("Passphrase of the vault file")
      reply = try daemon.call(.unlock(.passphrase(passphrase)))
    } catch {
      throw Failure(error)
    }
  }
  guard case .empty = reply else { throw unexpectedReply() }
}

func verifyCommand(_ invocation: Invocation) throws(Failure) -> Int32 {
  let reply = try Daemon(mayStart: true).call(.verify)
  guard case .verification(let verification) = reply else { throw unexpectedReply() }
  if invocation.has(.json) {
    try printParameters(reply)
  } else {
    let records = verification.records == 1 ? "1 record" : "\(verification.records) records"
    try StandardStreams.write(
      "\(records), \(verification.damaged) damaged: " + (verification.sound ? "sound\n" : "not sound\n"))
  }
  guard !verification.sound else { return 0 }
  StandardStreams.tell(
    "the vault file was changed by something else than vaultd; set the damaged keys anew, or restore a backup"
  )
  return Outcome.damaged.exitStatus
}
