// Durations as people write them on the command line and in the configuration: `90s`, `15m`, `2h30m`, `7d`,
// `4w`, `3600`. Strict: what is not clearly a positive number of whole seconds is refused, because a token
// that ends at the wrong time is worse than a question asked again. Holds no secret.

/// Reads a duration: one or several whole numbers, each with a unit (`w`, `d`, `h`, `m`, `s`, each at most
/// once, the larger ones first), or a whole number of seconds alone.
/// - Parameters:
///   - text: what was given.
///   - argument: the flag or setting that it was given with, for the error.
/// - Returns: seconds, from 1 to `Limits.longestDuration`.
/// - Throws: `.invalidArgument` that says what a duration is.
public func readDuration(_ text: String, argument: String) throws(VaultError) -> Int64 {
  var bytes = Array(text.utf8)[...]
  var total: Int64 = 0
  var smallest: Int64 = .max
  repeat {
    guard let number = takeNumber(&bytes) else { throw noDuration(argument) }
    let factor: Int64
    if let unit = bytes.popFirst() {
      guard let seconds = secondsOfUnit(unit) else { throw noDuration(argument) }
      factor = seconds
    } else {
      guard smallest == .max else { throw noDuration(argument) }
      factor = 1
    }
    guard factor < smallest else { throw noDuration(argument) }
    smallest = factor
    let (part, overflow) = number.multipliedReportingOverflow(by: factor)
    let (sum, overflowOfSum) = total.addingReportingOverflow(part)
    guard !overflow, !overflowOfSum, sum <= Limits.longestDuration else {
      throw .invalidArgument(argument: argument, reason: "is longer than 1,000 years")
    }
    total = sum
  } while !bytes.isEmpty
  guard total > 0 else {
    throw .invalidArgument(argument: argument, reason: "must be longer than nothing; leave it out for never")
  }
  return total
}

private func noDuration(_ argument: String) -> VaultError {
  .invalidArgument(
    argument: argument, reason: "is no duration; write 90s, 15m, 2h30m, 7d, 4w, or 3600 for seconds")
}

private func secondsOfUnit(_ unit: UInt8) -> Int64? {
  switch unit {
  case UInt8(ascii: "s"): 1
  case UInt8(ascii: "m"): 60
  case UInt8(ascii: "h"): 3_600
  case UInt8(ascii: "d"): 86_400
  case UInt8(ascii: "w"): 604_800
  default: nil
  }
}

/// Takes the decimal digits in front: at least one. A number that does not fit becomes the largest that does,
/// which is over every limit of ours.
func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
  var value: Int64 = 0
  let count = bytes.count
  while let byte = bytes.first, let digit = digit(byte) {
    let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
    let (sum, overflowOfSum) = shifted.addingReportingOverflow(digit)
    value = overflow || overflowOfSum ? .max : sum
    bytes.removeFirst()
  }
  return bytes.count < count ? value : nil
}

func digit(_ byte: UInt8) -> Int64? {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte) - 48 : nil
}

/// Reads a whole number of decimal digits and nothing else, as versions, slots and counts are written.
/// - Returns: `nil` where it is something else or past 2^63 - 1.
public func readWholeNumber(_ text: String) -> Int64? {
  let digits = text.utf8
  guard !digits.isEmpty, digits.allSatisfy({ digit($0) != nil }) else { return nil }
  return Int64(text)
}
