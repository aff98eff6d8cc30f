// Reply to frame, in the daemon: from the vault's words to the bytes that a connection sends. A secret goes
// from its own memory into the send buffer and nowhere else. Whole seconds, rounded down; what is not there
// is left out.

import SecretMemory
import VaultModel

extension Reply {
  /// Adds the reply to `buffer` as a frame, with the NUL at its end; `continues`: more replies follow. Where
  /// it throws, nothing is added.
  public func write(
    continues: Bool = false, into buffer: inout SecretBuffer
  ) throws(SecretMemoryError) {
    try buffer.appendFrame { buffer throws(SecretMemoryError) in
      try buffer.append(#"{"parameters":{"#)
      try writeParameters(into: &buffer)
      if continues { try buffer.append(#"},"continues":true}"#) } else { try buffer.append("}}") }
    }
  }

  /// Adds the members of the parameters, without the braces around them.
  func writeParameters(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    switch self {
    case .info(let info): try buffer.appendInfo(info)
    case .interfaceDescription(let text):
      try buffer.append(#""description":"#)
      try buffer.appendString(text)
    case .token(let token): try buffer.appendToken(token)
    case .sealedToken(let token):
      try buffer.appendSecret(SharedSecret(try token.opened()))
      try buffer.append(#","entry":{"#)
      try buffer.appendMembers(of: token)
      try buffer.append("}")
    case .entry(let entry):
      try buffer.append(#""entry":"#)
      try buffer.appendEntry(entry)
    case .clearance(let clearance):
      try buffer.append(#""cleared":"#)
      try buffer.appendBoolean(clearance.cleared > 0)
      try buffer.append(#","pending":"#)
      try buffer.appendBoolean(clearance.pending)
    case .namespaceClearance(let clearance):
      try buffer.append(#""cleared":"#)
      try buffer.appendInteger(Int64(clearance.cleared))
      try buffer.append(#","pending":"#)
      try buffer.appendBoolean(clearance.pending)
    case .entries(let entries):
      try buffer.append(#""entries":"#)
      try buffer.appendArray(entries) { buffer, entry throws(SecretMemoryError) in
        try buffer.appendEntry(entry)
      }
    case .event(let event):
      if let event { try buffer.appendEvent(event) }
    case .refreshed(let lease, let token, let entry):
      try buffer.appendRefreshed(lease: lease, token: token, entry: entry)
    case .slots(let slots):
      try buffer.append(#""slots":"#)
      try buffer.appendArray(slots) { buffer, slot throws(SecretMemoryError) in try buffer.appendSlot(slot) }
    case .slot(let slot):
      try buffer.append(#""slot":"#)
      try buffer.appendSlot(slot)
    case .verification(let verification):
      try buffer.append(#""records":"#)
      try buffer.appendInteger(Int64(verification.records))
      try buffer.append(#","damaged":"#)
      try buffer.appendInteger(Int64(verification.damaged))
      try buffer.append(#","sound":"#)
      try buffer.appendBoolean(verification.sound)
    case .status(let status): try buffer.appendStatus(status)
    case .empty: break
    }
  }
}

extension SecretBuffer {
  fileprivate mutating func appendArray<Element>(
    _ elements: [Element], _ appendElement: (inout SecretBuffer, Element) throws(SecretMemoryError) -> Void
  ) throws(SecretMemoryError) {
    try append(UInt8(ascii: "["))
    var first = true
    for element in elements {
      if !first { try append(UInt8(ascii: ",")) }
      first = false
      try appendElement(&self, element)
    }
    try append(UInt8(ascii: "]"))
  }

  fileprivate mutating func appendInfo(_ info: ServiceInfo) throws(SecretMemoryError) {
    try append(#""vendor":"#)
    try appendString(info.vendor)
    try append(#","product":"#)
    try appendString(info.product)
    try append(#","version":"#)
    try appendString(info.version)
    try append(#","url":"#)
    try appendString(info.url)
    try append(#","interfaces":"#)
    try appendArray(info.interfaces) { buffer, name throws(SecretMemoryError) in try buffer.appendString(name)
    }
  }

  fileprivate mutating func appendToken(_ token: Token) throws(SecretMemoryError) {
    try appendSecret(token.secret)
    try append(#","entry":"#)
    try appendEntry(token.entry)
  }

  fileprivate mutating func appendRefreshed(
    lease: String?, token: Token?, entry: Entry?
  ) throws(SecretMemoryError) {
    if let token { return try appendToken(token) }
    if let lease {
      try append(#""lease":"#)
      try appendString(lease)
      if entry != nil { try append(UInt8(ascii: ",")) }
    }
    if let entry {
      try append(#""entry":"#)
      try appendEntry(entry)
    }
  }

  fileprivate mutating func appendEntry(_ entry: Entry) throws(SecretMemoryError) {
    try append(UInt8(ascii: "{"))
    try appendMembers(of: entry)
    try append(UInt8(ascii: "}"))
  }

  fileprivate mutating func appendEvent(_ event: VaultEvent) throws(SecretMemoryError) {
    try append(#""event":"#)
    try appendString(event.kind.rawValue)
    if let id = event.id {
      try append(#","key":"#)
      try appendString(id.key.text)
      try append(#","account":"#)
      try appendString(id.account.text)
    }
    if let version = event.version {
      try append(#","version":"#)
      try appendInteger(version)
    }
    if let store = event.store {
      try append(#","store":"#)
      try appendString(store.rawValue)
    }
  }

  fileprivate mutating func appendSlot(_ slot: Slot) throws(SecretMemoryError) {
    try append(#"{"slot":"#)
    try appendInteger(slot.number)
    try append(#","kind":"#)
    try appendString(slot.kind.rawValue)
    try append(#","detail":"#)
    try appendString(slot.detail)
    try append(#","created":"#)
    try appendInteger(slot.created.seconds)
    try append(UInt8(ascii: "}"))
  }

  fileprivate mutating func appendStatus(_ status: DaemonStatus) throws(SecretMemoryError) {
    try append(#""version":"#)
    try appendString(status.version)
    try append(#","pid":"#)
    try appendInteger(Int64(status.pid))
    try append(#","since":"#)
    try appendInteger(status.since.seconds)
    try append(#","preference":"#)
    try appendString(status.preference.rawValue)
    try append(#","stores":"#)
    try appendArray(status.stores) { buffer, store throws(SecretMemoryError) in
      try buffer.append(#"{"store":"#)
      try buffer.appendString(store.store.rawValue)
      try buffer.append(#","state":"#)
      try buffer.appendString(store.state.rawValue)
      try buffer.append(#","detail":"#)
      try buffer.appendString(store.detail)
      try buffer.append(#","entries":"#)
      try buffer.appendInteger(Int64(store.entries))
      try buffer.append(#","pending":"#)
      try buffer.appendInteger(Int64(store.pending))
      try buffer.append(UInt8(ascii: "}"))
    }
    try append(#","protections":{"#)
    var first = true
    for (measure, inForce) in status.protections.sorted(by: { $0.key < $1.key }) {
      if !first { try append(UInt8(ascii: ",")) }
      first = false
      try appendString(measure)
      try append(UInt8(ascii: ":"))
      try appendBoolean(inForce)
    }
    try append(UInt8(ascii: "}"))
  }
}
