// Secrets on the wire: exactly the bytes that were given, in both directions, up to the limit.

import SecretMemory
import TestSupport
import Testing
import VaultModel
import VaultWire

@Suite struct SecretTests {
  private static let table: [[UInt8]] = [
    [], [0], Array("token".utf8), Array(0...255), Array("\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}é€😀".utf8),
    [0xC3], [0xED, 0xA0, 0x80], [0xFF, 0xFE], Array("a\u{0}b".utf8), [UInt8](repeating: 0x22, count: 1_000),
  ]

  @Test("Set and Get carry every secret exactly", arguments: table)
  func exact(bytes: [UInt8]) throws {
    try expectExact(bytes)
  }

  @Test("each byte value by itself arrives, as text or as Base64")
  func everyByte() throws {
    for byte in UInt8.min...UInt8.max { try expectExact([byte]) }
  }

  private func expectExact(_ bytes: [UInt8]) throws {
    let id = EntryID(try Key("a.b"))
    let call = Call.set(SetRequest(id: id, secret: try secret(bytes)))
    guard case .set(let set) = try request(try frame { try call.write(into: &$0) }).call else {
      throw UnfinishedFrame()
    }
    #expect(set.secret.array == bytes)

    let entry = Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), size: bytes.count,
      store: .file)
    let written = try frame {
      try Reply.token(Token(entry: entry, secret: try secret(bytes))).write(into: &$0)
    }
    guard case .token(let token) = try reply(written, to: .get(GetRequest(id: id))).reply else {
      throw UnfinishedFrame()
    }
    #expect(token.secret.array == bytes)
    try expectSame(bytes, entry, as: written)
  }

  /// A token that is opened as it is written gives the same answer.
  private func expectSame(_ bytes: [UInt8], _ entry: Entry, as written: [UInt8]) throws {
    let token = Token(entry: entry, secret: try secret(bytes))
    let sealed = UnsealedToken(token)
    #expect(try frame { try sealed.writeReply(into: &$0) } == written)
    #expect(try frame { try Reply.sealedToken(sealed).write(into: &$0) } == written)
    var buffer = try SecretBuffer(capacity: 16, limit: 1 << 24)
    try buffer.append(UInt8(7))
    #expect(throws: SecretMemoryError.notOpened) {
      try UnsealedToken(token, opens: false).writeReply(into: &buffer)
    }
    #expect(buffer.withBytes { $0.array } == [7], "nothing of it is left")
  }

  @Test("text without NUL goes as text, everything else as Base64")
  func form() throws {
    func form(_ bytes: [UInt8]) throws -> String {
      let call = Call.set(SetRequest(id: EntryID(try Key("a.b")), secret: try secret(bytes)))
      return try text { try call.write(into: &$0) }
    }
    #expect(try form([0x01, 0x7F]).contains(#""secret":"\u0001\#u{7F}""#))
    #expect(try form([0x1B, 0x1F]).contains(#""secret":"\u001b\u001f""#))
    #expect(try form([0]).contains(#""secretBase64":"AA==""#))
    #expect(try form([0x61, 0]).contains(#""secretBase64":"YQA=""#))
    #expect(try form([0x80]).contains(#""secretBase64":"gA==""#))
  }

  @Test("a NUL in the text of a secret is taken as it is")
  func nulInText() throws {
    guard case .set(let set) = try request("Set", #"{"key":"a.b","secret":"a\u0000b"}"#).call else {
      throw UnfinishedFrame()
    }
    #expect(set.secret.array == [0x61, 0, 0x62])
  }

  @Test("1 MiB is taken in every form and one byte more is TooLarge in every form")
  func limit() throws {
    let limit = Limits.secretBytes
    func count(_ member: String, _ text: String) throws -> Int? {
      guard case .set(let set) = try request("Set", #"{"key":"a.b","\#(member)":"\#(text)"}"#).call else {
        return nil
      }
      return set.secret.count
    }
    let tooLarge = "TooLarge " + VaultError.tooLarge(size: limit + 1, limit: limit).description
    for unit in ["x", #"\u0001"#] {
      let full = String(repeating: unit, count: limit)
      #expect(full.utf8.count < Limits.frameBytes)
      #expect(try count("secret", full) == limit)
      #expect(refusal("Set", #"{"key":"a.b","secret":"\#(full)\#(unit)"}"#) == tooLarge)
    }
    // 1 MiB leaves one byte over after groups of three.
    let groups = String(repeating: "AAAA", count: limit / 3)
    #expect(try count("secretBase64", groups + "AA==") == limit)
    #expect(refusal("Set", #"{"key":"a.b","secretBase64":"\#(groups)AAA="}"#) == tooLarge)
  }

  @Test("a reply with 1 MiB of any bytes arrives")
  func largeReply() throws {
    var bytes = [UInt8](repeating: 0, count: Limits.secretBytes)
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 7) }
    try expectExact(bytes)
    try expectExact([UInt8](repeating: 1, count: Limits.secretBytes))
  }

  @Test("a writer that runs out of room adds nothing")
  func outOfRoom() throws {
    var buffer = try SecretBuffer(capacity: 64, limit: 200)
    try Call.lock.write(into: &buffer)
    let before = buffer.count
    let call = Call.set(
      SetRequest(id: EntryID(try Key("a.b")), secret: try secret(String(repeating: "x", count: 200))))
    #expect(throws: SecretMemoryError.self) { try call.write(into: &buffer) }
    #expect(buffer.count == before)
    try Call.lock.write(into: &buffer)
    #expect(buffer.count == 2 * before)
  }

  @Test("a passphrase that is not UTF-8 is not sent")
  func passphrase() throws {
    let call = Call.initialise(.passphrase(try secret([0xFF])))
    #expect(throws: SecretMemoryError.notText) { _ = try frame { try call.write(into: &$0) } }
  }
}
