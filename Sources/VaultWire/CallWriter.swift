// Call to frame, in a client. What is not given, or is what the other side takes it for anyway, is left out.

import SecretMemory
import VaultModel

extension Call {
  /// Adds the call to `buffer` as a frame, with the NUL at its end. Where it throws, nothing is added.
  /// - Throws: `.notText` for a passphrase that is not UTF-8; `.exhausted`.
  public func write(
    oneway: Bool = false, more: Bool = false, into buffer: inout SecretBuffer
  ) throws(SecretMemoryError) {
    try buffer.appendFrame { buffer throws(SecretMemoryError) in
      try buffer.append(#"{"method":"#)
      try buffer.appendString(methodName)
      try buffer.append(#","parameters":{"#)
      try writeParameters(into: &buffer)
      try buffer.append(UInt8(ascii: "}"))
      if oneway { try buffer.append(#","oneway":true"#) }
      if more { try buffer.append(#","more":true"#) }
      try buffer.append(UInt8(ascii: "}"))
    }
  }

  private func writeParameters(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    switch self {
    case .getInfo, .lock, .slots, .verify, .status: break
    case .getInterfaceDescription(let interface):
      try buffer.append(#""interface":"#)
      try buffer.appendString(interface)
    case .get(let request):
      try buffer.appendID(request.id)
      try buffer.appendInteger(named: #","minValidity":"#, request.minValidity)
      if !request.interactive { try buffer.append(#","interactive":false"#) }
    case .set(let request): try buffer.appendSet(request)
    case .clear(let id, let version):
      try buffer.appendID(id)
      try buffer.appendInteger(named: #","ifVersion":"#, version)
    case .clearNamespace(let namespace, let account):
      try buffer.append(#""namespace":"#)
      try buffer.appendString(namespace.text)
      try buffer.appendString(named: #","account":"#, account?.text)
    case .list(let namespace): try buffer.appendString(named: #""namespace":"#, namespace?.text)
    case .touch(let id): try buffer.appendID(id)
    case .watch(let namespace, let key):
      try buffer.appendString(named: #""namespace":"#, namespace?.text)
      if let key {
        try buffer.append(namespace == nil ? #""key":"# : #","key":"#)
        try buffer.appendString(key.text)
      }
    case .refresh(let id, let minValidity, let wait):
      try buffer.appendID(id)
      try buffer.appendInteger(named: #","minValidity":"#, minValidity)
      try buffer.appendInteger(named: #","wait":"#, wait)
    case .giveUp(let lease):
      try buffer.append(#""lease":"#)
      try buffer.appendString(lease)
    case .initialise(let key), .addSlot(let key): try buffer.appendSlotKey(key)
    case .unlock(let key):
      if let key { try buffer.appendSlotKey(key) }
    case .removeSlot(let number):
      try buffer.append(#""slot":"#)
      try buffer.appendInteger(number)
    }
  }
}

extension SecretBuffer {
  fileprivate mutating func appendInteger(
    named name: StaticString, _ value: Int64?
  ) throws(SecretMemoryError) {
    guard let value else { return }
    try append(name)
    try appendInteger(value)
  }

  fileprivate mutating func appendString(
    named name: StaticString, _ text: String?
  ) throws(SecretMemoryError) {
    guard let text else { return }
    try append(name)
    try appendString(text)
  }

  fileprivate mutating func appendID(_ id: EntryID) throws(SecretMemoryError) {
    try append(#""key":"#)
    try appendString(id.key.text)
    if id.account != .empty { try appendString(named: #","account":"#, id.account.text) }
  }

  fileprivate mutating func appendSet(_ request: SetRequest) throws(SecretMemoryError) {
    try appendID(request.id)
    try append(UInt8(ascii: ","))
    try appendSecret(request.secret)
    try appendInteger(named: #","expires":"#, request.expires)
    try appendInteger(named: #","expiresIn":"#, request.expiresIn)
    try appendInteger(named: #","idle":"#, request.idle)
    if request.untilLogout { try append(#","untilLogout":true"#) }
    try appendString(named: #","label":"#, request.label)
    try appendInteger(named: #","ifVersion":"#, request.ifVersion)
    try appendString(named: #","lease":"#, request.lease)
    if !request.interactive { try append(#","interactive":false"#) }
  }

  fileprivate mutating func appendSlotKey(_ key: SlotKey) throws(SecretMemoryError) {
    switch key {
    case .passphrase(let passphrase):
      try append(#""passphrase":"#)
      try passphrase.withBytes { bytes throws(SecretMemoryError) in
        guard bytes.isText else { throw .notText }
        try appendString(bytes)
      }
    case .keyFile(let path):
      try append(#""keyFile":"#)
      try appendString(path)
    case .credential(let name):
      try append(#""credential":"#)
      try appendString(name)
    }
  }
}
