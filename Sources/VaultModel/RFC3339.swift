// Times as people and JWTs write them. Proleptic Gregorian calendar, UTC inside; no locale, no time zone
// database, no Foundation. Holds no secret.

extension WallTime {
  /// `2027-01-31T12:00:00Z`: in UTC, whole seconds, rounded down (RFC 3339, section 5.6).
  public var rfc3339: String {
    let seconds = seconds
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = seconds - days * 86_400
    let date = CivilDate(daysSinceEpoch: days)
    return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))"
      + "T\(pad(rest / 3_600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2))Z"
  }
}

/// Reads a point in time: RFC 3339 with a zone (`2027-01-31T12:00:00Z`, `2027-01-31T13:00:00+01:00`), or `@` and
/// Unix seconds. A fraction of a second other than zero is refused. `23:59:60`, in UTC, on the last day of a
/// month is the leap second there, and the same as the second behind it (POSIX counts none).
/// - Parameters:
///   - text: what was given.
///   - argument: the flag that it was given with, for the error.
/// - Returns: seconds since 1970, from 1 to `Limits.latestTime`.
/// - Throws: `.invalidArgument` that says how a time is written.
public func readTime(_ text: String, argument: String) throws(VaultError) -> Int64 {
  guard let seconds = text.utf8.first == UInt8(ascii: "@") ? unixSeconds(text) : rfc3339Seconds(text) else {
    throw .invalidArgument(
      argument: argument,
      reason: "is no time; write RFC 3339 with a zone, as 2027-01-31T12:00:00Z, or @ and Unix seconds")
  }
  guard (1...Limits.latestTime).contains(seconds) else {
    throw .invalidArgument(argument: argument, reason: "must lie between 1970 and the end of the year 9999")
  }
  return seconds
}

private func unixSeconds(_ text: String) -> Int64? {
  var digits = Array(text.utf8)[...].dropFirst()
  guard let seconds = takeNumber(&digits), digits.isEmpty else { return nil }
  return seconds
}

/// RFC 3339, section 5.6, `date-time`: `T` and `Z` may be small letters.
private func rfc3339Seconds(_ text: String) -> Int64? {
  var scan = Array(text.utf8)[...]
  guard
    let year = take(4, &scan), skip("-", from: &scan), let month = take(2, &scan), skip("-", from: &scan),
    let day = take(2, &scan), skip("T", "t", from: &scan),
    let hour = take(2, &scan), skip(":", from: &scan), let minute = take(2, &scan), skip(":", from: &scan),
    let second = take(2, &scan), skipZeroFraction(&scan), let offset = takeOffset(&scan), scan.isEmpty,
    let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60
  else { return nil }
  let seconds = date.daysSinceEpoch * 86_400 + hour * 3_600 + minute * 60 + second - offset
  if second == 60 {
    // The second behind a leap second begins a month, in UTC.
    guard seconds >= 0, seconds % 86_400 == 0, CivilDate(daysSinceEpoch: seconds / 86_400).day == 1 else {
      return nil
    }
  }
  return seconds
}

/// Exactly so many digits.
private func take(_ count: Int, _ scan: inout ArraySlice<UInt8>) -> Int64? {
  var value: Int64 = 0
  for _ in 0..<count {
    guard let byte = scan.popFirst(), let digit = digit(byte) else { return nil }
    value = value * 10 + digit
  }
  return value
}

private func skip(_ choices: Unicode.Scalar..., from scan: inout ArraySlice<UInt8>) -> Bool {
  guard let byte = scan.popFirst() else { return false }
  return choices.contains(Unicode.Scalar(byte))
}

private func skipZeroFraction(_ scan: inout ArraySlice<UInt8>) -> Bool {
  guard scan.first == UInt8(ascii: ".") else { return true }
  scan.removeFirst()
  guard let fraction = takeNumber(&scan) else { return false }
  return fraction == 0
}

/// How far local time is ahead of UTC, in seconds.
private func takeOffset(_ scan: inout ArraySlice<UInt8>) -> Int64? {
  guard let sign = scan.popFirst() else { return nil }
  if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return 0 }
  guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
  guard let hours = take(2, &scan), skip(":", from: &scan), let minutes = take(2, &scan), hours < 24,
    minutes < 60
  else { return nil }
  let offset = hours * 3_600 + minutes * 60
  return sign == UInt8(ascii: "+") ? offset : -offset
}

private func pad(_ value: Int64, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// A day of the Gregorian calendar. The arithmetic counts years from March, so that the leap day comes last,
/// in eras of 400 years, which all have 146,097 days.
struct CivilDate {
  var year: Int64
  var month: Int64
  var day: Int64

  init?(year: Int64, month: Int64, day: Int64) {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
    let days: [Int64] = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= days[Int(month) - 1] else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  init(daysSinceEpoch: Int64) {
    let shifted = daysSinceEpoch + 719_468  // days since 0000-03-01
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var daysSinceEpoch: Int64 {
    let year = month <= 2 ? self.year - 1 : self.year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
