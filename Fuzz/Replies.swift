// A client's side of the socket: what a daemon, or whoever sits in its place, answers. It is read or refused; what was
// read is written and read again, and is the same.

import SecretMemory
import VaultModel
import VaultWire

/// Reads the bytes behind the first one, which says to which call they are the reply.
func readReply(_ input: [UInt8]) {
  guard let first = input.first, let calls = try? someCalls() else { return }
  let call = calls[Int(first) % calls.count]
  guard let once = rewritten(input.dropFirst(), call) else { return }
  guard let twice = rewritten(once[...], call) else {
    fatalError("a reply that was read cannot be read again")
  }
  require(once == twice, "a reply changes by being read and written")
}

private func rewritten(_ frame: ArraySlice<UInt8>, _ call: Call) -> [UInt8]? {
  var reader = ReplyReader()
  guard let reply = withExactly(frame, { try? reader.read(&$0, to: call) }) else { return nil }
  do {
    var buffer = try SecretBuffer(capacity: 64, limit: Limits.replyBytes)
    try reply.reply.write(continues: reply.continues, into: &buffer)
    return buffer.withBytes { $0.array.dropLast() }
  } catch {
    fatalError("a reply that was read cannot be written: \(error)")
  }
}

/// One of each kind of reply. Their order is part of the seeds.
private func someCalls() throws(VaultError) -> [Call] {
  let id = EntryID(try Key("a.b"))
  return [
    .getInfo, .getInterfaceDescription(interface: "a"), .get(GetRequest(id: id)), .touch(id),
    .clear(id, ifVersion: nil), .clearNamespace(id.key.namespace, account: nil), .list(nil),
    .watch(namespace: nil, key: nil), .refresh(id, minValidity: nil, wait: nil), .slots,
    .addSlot(.keyFile("/k")), .verify, .status, .lock,
  ]
}
