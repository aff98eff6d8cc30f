// Durations as people write them: what is read, and that everything else is refused.

import Testing
import VaultModel

@Suite struct DurationTests {
  @Test(
    "a duration is whole numbers with units, or seconds alone",
    arguments: [
      ("90s", 90), ("15m", 900), ("2h30m", 9_000), ("7d", 604_800), ("4w", 2_419_200), ("3600", 3_600),
      ("1", 1),
      ("1w2d3h4m5s", 788_645), ("0h5m", 300), ("007", 7),
    ] as [(String, Int64)])
  func read(text: String, seconds: Int64) throws {
    #expect(try readDuration(text, argument: "--idle") == seconds)
  }

  @Test(
    "what is not clearly a positive whole number of seconds is refused",
    arguments: [
      "", "0", "0d", "0h0m", "-1", "+1", "1e3", "nan", "inf", "0x10", "10 ", " 10", "1.5h", "1,5", "h", "5x",
      "2h30",
      "30m2h", "1h1h", "5M", "５s", "1h\0", "99999999999999999999", "9223372036854775807",
      "9223372036854775807w",
    ])
  func refused(text: String) {
    #expect(throws: VaultError.self) { try readDuration(text, argument: "--idle") }
  }

  @Test("1,000 years are a duration, one second more is none")
  func limit() throws {
    #expect(try readDuration("\(Limits.longestDuration)", argument: "--idle") == Limits.longestDuration)
    #expect(throws: VaultError.self) { try readDuration("\(Limits.longestDuration + 1)", argument: "--idle") }
  }

  @Test("the error names the flag and never a value")
  func error() {
    #expect {
      try readDuration("s3cret", argument: "--idle")
    } throws: { error in
      let text = "\(error)"
      return text.hasPrefix("--idle: ") && !text.contains("s3cret")
    }
  }

  @Test("a whole number is digits and nothing else")
  func wholeNumbers() {
    #expect(readWholeNumber("0") == 0)
    #expect(readWholeNumber("9223372036854775807") == Int64.max)
    for text in ["", "-1", "+1", "1 ", "1e3", "9223372036854775808", "0x1", "１"] {
      #expect(readWholeNumber(text) == nil, "\(text)")
    }
  }
}
