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
