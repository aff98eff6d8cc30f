// Times as people write them: RFC 3339 and Unix seconds, the calendar's corners, and what is refused.

import Testing
import VaultModel

@Suite struct TimeTextTests {
  @Test(
    "RFC 3339 with a zone, and @ with Unix seconds, are read",
    arguments: [
      ("2027-01-31T12:00:00Z", 1_801_396_800), ("2027-01-31t12:00:00z", 1_801_396_800),
      ("2027-01-31T13:30:00+01:30", 1_801_396_800), ("2027-01-30T13:00:00-23:00", 1_801_396_800),
      ("2027-01-31T12:00:00-00:00", 1_801_396_800), ("2027-01-31T12:00:00.000Z", 1_801_396_800),
      ("1970-01-01T00:00:01Z", 1), ("9999-12-31T23:59:59Z", Limits.latestTime),
      ("2028-02-29T00:00:00Z", 1_835_395_200), ("2000-02-29T23:59:59Z", 951_868_799),
      ("@1", 1), ("@1801396800", 1_801_396_800), ("@253402300799", Limits.latestTime),
      // The leap seconds of 2016 and, in a zone, of June 2015.
      ("2016-12-31T23:59:60Z", 1_483_228_800), ("2015-07-01T01:59:60+02:00", 1_435_708_800),
    ] as [(String, Int64)])
  func read(text: String, seconds: Int64) throws {
    #expect(try readTime(text, argument: "--expires-at") == seconds)
  }

  @Test(
    "everything else is refused",
    arguments: [
      "", "@", "@0", "@-1", "@+1", "@1.5", "@1e9", "@253402300800", "@99999999999999999999", "@1 ",
      "1801396800",
      "2027-01-31", "2027-01-31T12:00:00", "2027-01-31 12:00:00Z", "2027-01-31T12:00Z", "2027-1-31T12:00:00Z",
      "2027-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2027-04-31T00:00:00Z", "2027-13-01T00:00:00Z",
      "2027-00-01T00:00:00Z", "2027-01-00T00:00:00Z", "2027-01-31T24:00:00Z", "2027-01-31T12:60:00Z",
      "2027-01-31T12:00:60Z", "2027-01-30T23:59:60Z", "2027-01-31T23:59:61Z", "2027-01-31T23:59:60+01:00",
      "2027-01-31T12:00:00.5Z", "2027-01-31T12:00:00.Z", "2027-01-31T12:00:00+0100",
      "2027-01-31T12:00:00+24:00",
      "2027-01-31T12:00:00+01:60", "2027-01-31T12:00:00Z ", " 2027-01-31T12:00:00Z", "2027-01-31T12:00:00ZZ",
      "1970-01-01T00:00:00Z", "1969-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-00:01",
      "+2027-01-31T12:00:00Z", "２027-01-31T12:00:00Z",
    ])
  func refused(text: String) {
    #expect(throws: VaultError.self) { try readTime(text, argument: "--expires-at") }
  }

  @Test(
    "whole seconds are rounded down, also before 1970 and at both ends of what 64 bits hold",
    arguments: [
      (0, 0), (999, 0), (1_000, 1), (-1, -1), (-1_000, -1), (-1_001, -2),
      (.max, 9_223_372_036_854_775), (.min, -9_223_372_036_854_776),
    ] as [(Int64, Int64)])
  func wholeSeconds(milliseconds: Int64, seconds: Int64) {
    let time = WallTime(milliseconds: milliseconds)
    #expect(time.seconds == seconds)
    #expect(!time.rfc3339.isEmpty)
  }

  @Test("what is written is read back, over all years of four digits")
  func roundTrip() throws {
    var seconds: Int64 = 1
    while seconds <= Limits.latestTime {
      #expect(try readTime(WallTime(seconds: seconds).rfc3339, argument: "t") == seconds)
      seconds += 86_400 * 37 + 3_607
    }
  }
}
