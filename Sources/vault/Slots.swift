// `vault slot list`, `add` and `remove`: what opens the vault file.

import VaultClient
import VaultWire

func slotListCommand() throws(Failure) {
  guard case .slots(let slots) = try Daemon(mayStart: true).call(.slots) else { throw unexpectedReply() }
  try StandardStreams.write(slotsText(slots, style: .ofOutput))
}

/// The slots as a table.
func slotsText(_ slots: [Slot], style: Style) -> String {
  var table = Table(["SLOT", "KIND", "ADDED", "DETAIL"])
  for slot in slots.sorted(by: { $0.number < $1.number }) {
    table.add(["\(slot.number)", slot.kind.word, slot.created.rfc3339, slot.detail])
  }
  return table.lines(style)
}

func slotAddCommand(_ invocation: Invocation) throws(Failure) {
  let word = invocation.operands[0]
  guard let kind = Slot.Kind.allCases.first(where: { $0.word == word }) else {
    throw .usage(
      "a slot is one of \(Slot.Kind.allCases.map(\.word).joined(separator: ", "))", invocation.command)
  }
  let value = invocation.operands.dropFirst().first
  let key: SlotKey
  switch kind {
  case .passphrase:
    guard value == nil else {
      throw .usage(
        "a passphrase is never taken from the command line, where other programs can read it; "
          + "answer the question, or use --passphrase-file", invocation.command)
    }
    if let path = invocation[.passphraseFile] {
      key = .passphrase(try readPassphrase(path))
    } else {
      guard StandardStreams.canAsk else {
        throw Failure(
          .invalidArgument, "there is no terminal to ask for a passphrase on; use --passphrase-file")
      }
      key = .passphrase(try askNewPassphrase())
    }
  case .keyFile:
    try refusePassphraseFile(invocation)
    guard let value else { throw .usage("vault slot add key-file needs PATH", invocation.command) }
    key = .keyFile(try absolutePath(value, "PATH"))
  case .credential:
    try refusePassphraseFile(invocation)
    guard let value else { throw .usage("vault slot add credential needs NAME", invocation.command) }
    key = .credential(value)
  }
  guard case .slot(let slot) = try Daemon(mayStart: true).call(.addSlot(key)) else { throw unexpectedReply() }
  try StandardStreams.write("slot \(slot.number) opens the vault file now\n" + notice(about: key))
}

private func refusePassphraseFile(_ invocation: Invocation) throws(Failure) {
  guard !invocation.has(.passphraseFile) else {
    throw .usage("--passphrase-file goes with passphrase only", invocation.command)
  }
}

func slotRemoveCommand(_ invocation: Invocation) throws(Failure) {
  guard let number = readWholeNumber(invocation.operands[0]) else {
    throw .usage("N is the number of a slot, as vault slot list shows it", invocation.command)
  }
  guard case .empty = try Daemon(mayStart: true).call(.removeSlot(number)) else { throw unexpectedReply() }
  try StandardStreams.write("slot \(number) is removed\n")
}

extension Slot.Kind {
  /// As the command line has it.
  var word: String {
    switch self {
    case .passphrase: "passphrase"
    case .keyFile: "key-file"
    case .credential: "credential"
    }
  }
}
