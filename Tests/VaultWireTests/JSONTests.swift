// JSON as RFC 8259 has it and nothing else, in requests: what is text, what is a number, and how deep and how
// wide it may be.

import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct JSONTests {
  /// What a Set with this text as its secret, between the quotation marks, stores; `nil` where it is malformed.
  private func decoded(_ text: [UInt8]) -> [UInt8]? {
    let frame =
      Array(#"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":""#.utf8) + text
      + Array(#""}}"#.utf8)
    guard case .set(let set)? = try? request(frame).call else { return nil }
    return set.secret.array
  }

  private func decoded(_ text: String) -> [UInt8]? { decoded(Array(text.utf8)) }

  @Test("escapes stand for what RFC 8259 says")
  func escapes() {
    #expect(decoded(#"\"\\\/\b\f\n\r\t"#) == [0x22, 0x5C, 0x2F, 0x08, 0x0C, 0x0A, 0x0D, 0x09])
    #expect(decoded(#"\u0041\u00e9\u20AC"#) == Array("Aé€".utf8))
    #expect(decoded(#"\ud83d\ude00"#) == Array("😀".utf8))
    #expect(decoded(#"\u0000\u001f\u007f\uFFFF"#) == [0, 0x1F, 0x7F, 0xEF, 0xBF, 0xBF])
    #expect(decoded("\u{7F}é€😀") == Array("\u{7F}é€😀".utf8))
    #expect(decoded(#"\uD7FF\uE000"#) == [0xED, 0x9F, 0xBF, 0xEE, 0x80, 0x80])
  }

  @Test(
    "what is no escape, and what is half a character, is malformed",
    arguments: [
      #"\"#, #"\x"#, #"\'"#, #"\u"#, #"\u12"#, #"\u12g4"#, #"\U0041"#, #"\ud800"#, #"\ud800x"#, #"\ud800\n"#,
      #"\ud800\u0041"#, #"\ud800\ud800"#, #"\udc00"#, #"x\udfffx"#, #"\udc00\ud800"#, "\n", "\t", "\u{1F}",
    ])
  func badText(text: String) {
    #expect(decoded(text) == nil)
  }

  @Test(
    "bytes that are not UTF-8 are malformed",
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82],
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ] as [[UInt8]])
  func badBytes(bytes: [UInt8]) {
    #expect(decoded(bytes) == nil)
  }

  @Test("every scalar arrives as it was sent")
  func scalars() {
    for plane in 0..<17 as Range<UInt32> {
      var text = ""
      for low in 0..<0x10000 as Range<UInt32> where (plane << 16 | low) % 7 == 0 || low < 0x100 {
        guard let scalar = Unicode.Scalar(plane << 16 | low), scalar.value >= 0x20, scalar != "\"",
          scalar != "\\"
        else { continue }
        text.unicodeScalars.append(scalar)
      }
      #expect(decoded(text) == Array(text.utf8))
    }
  }

  @Test(
    "numbers that JSON does not have are malformed",
    arguments: [
      "+1", "01", "-", "-x", ".5", "1.", "1.e1", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "1_0",
    ])
  func badNumber(number: String) {
    #expect(refusal("RemoveSlot", #"{"slot":\#(number)}"#) == "malformed")
  }

  @Test(
    "numbers that are no integers are of another type",
    arguments: [
      "0.0", "1.0", "-1.5", "1e3", "1E3", "1e-3", "0e0", "1e+2", "0.00000000001e-2147483639",
      "1e-99999999999999999999", "0.1e-2147483648", "123456789012345678901234567890.5",
    ])
  func noInteger(number: String) {
    #expect(refusal("RemoveSlot", #"{"slot":\#(number)}"#) == #"invalidParameter("slot")"#)
  }

  @Test("integers are exact up to the ends of 64 bits, and refused beyond")
  func integers() throws {
    for value: Int64 in [0, 1, -1, 9, .max, .min, (1 << 53) + 1, 4_294_967_296, -2_147_483_649] {
      guard case .removeSlot(let read) = try request("RemoveSlot", #"{"slot":\#(value)}"#).call else {
        Issue.record("no RemoveSlot")
        continue
      }
      #expect(read == value)
    }
    for value in [
      "9223372036854775808", "-9223372036854775809", "18446744073709551616",
      "1" + String(repeating: "0", count: 300),
    ] {
      #expect(refusal("RemoveSlot", #"{"slot":\#(value)}"#).hasPrefix("InvalidArgument slot"))
    }
    #expect(refusal("RemoveSlot", #"{"slot":1e999}"#) == "malformed")
  }

  @Test("white space is what RFC 8259 calls so, anywhere between tokens")
  func whiteSpace() {
    #expect(refusal(" \t\r\n{ \"method\" :\t\"org.vaultd.Vault.Lock\"\r\n} \n") == "accepted")
    for other in ["\u{0B}", "\u{0C}", "\u{A0}", "\u{FEFF}", "//x\n", "/**/"] {
      #expect(refusal(other + #"{"method":"org.vaultd.Vault.Lock"}"#) == "malformed")
      #expect(refusal(#"{"method":"org.vaultd.Vault.Lock"}"# + other) == "malformed")
    }
  }

  @Test("a NUL is malformed wherever it stands")
  func nul() {
    let frame = Array(#"{"method":"org.vaultd.Vault.Lock","parameters":{}}"#.utf8)
    for place in 0...frame.count {
      var broken = frame
      broken.insert(0, at: place)
      #expect(throws: Refusal.self) { try request(broken) }
    }
  }

  @Test("nesting is taken to its limit and malformed one past it")
  func nesting() {
    func nested(_ depth: Int) -> String {
      // The call and its parameters are two levels.
      let inner = String(repeating: "[", count: depth - 2) + String(repeating: "]", count: depth - 2)
      return refusal("Get", #"{"key":"a.b","x":\#(inner)}"#)
    }
    #expect(nested(Limits.nesting) == #"invalidParameter("x")"#)
    #expect(nested(Limits.nesting + 1) == "malformed")
    #expect(refusal(String(repeating: "[", count: 100_000)) == "malformed")
    #expect(refusal(String(repeating: #"{"a":"#, count: 100_000)) == "malformed")
  }

  @Test("tokens are taken to their limit and malformed one past it")
  func tokens() {
    func wide(_ tokens: Int) -> String {
      // The call, two members of it, their values, two members of the parameters, their values: nine.
      let elements = Array(repeating: "1", count: tokens - 9).joined(separator: ",")
      return refusal("Get", #"{"key":"a.b","x":[\#(elements)]}"#)
    }
    #expect(wide(Limits.requestTokens) == #"invalidParameter("x")"#)
    #expect(wide(Limits.requestTokens + 1) == "malformed")
  }

  @Test("one reader reads many frames, good and bad, and remembers none")
  func reuse() throws {
    var reader = RequestReader()
    let frames = [
      #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"a.b","account":"x"}}"#, "[[[", "{}",
      #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"a.b"}}"#,
    ]
    for _ in 0..<3 {
      var last: Request?
      for frame in frames {
        var bytes = Array(frame.utf8)
        var span = bytes.mutableSpan
        last = try? reader.read(&span)
      }
      guard case .get(let get)? = last?.call else { throw UnfinishedFrame() }
      #expect(get.id == EntryID(try Key("a.b")))
    }
  }
}
