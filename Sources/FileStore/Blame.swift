// Finds out which record was changed, where a bucket does not add up when the file is opened. The sums are
// linear in the versions, with multipliers that nobody knows: so a difference that one record explains has no
// other explanation but with odds of about 1 in 2^64, and that record alone is damaged. Decides nothing about
// what is served.

import VaultModel

/// What explains the difference between the sums that are stated and those that were found.
enum Blame: Hashable, Sendable {
  /// The record of this id is an older copy: its version should be this one. Version 0: there should be none.
  case changed(RecordID, version: Version)
  /// The record with this multiplier, whose version was this one, is not there.
  case missing(FieldElement, version: Version)
  /// More than one record was changed, and it can't be told which.
  case several

  /// A record as it was found.
  struct Found: Hashable, Sendable {
    var id: RecordID
    var version: Version
    var multiplier: FieldElement
  }

  /// What explains `difference`, stated less found, of a bucket in which `found` is all there is.
  /// - Returns: `nil` where nothing is wrong.
  static func find(_ difference: BucketSums, in found: [Found]) -> Blame? {
    if difference == BucketSums() { return nil }
    // An index that was changed can hold one id twice: then no row counts as the one.
    guard Set(found.map(\.id)).count == found.count else { return .several }
    switch difference.count {
    case 0 where difference.presence == .zero:
      for one in found {
        guard let missed = (difference.versions * one.multiplier.inverse).asVersion else { continue }
        let version = one.version + missed
        if (1...Standing.largestVersion).contains(version) { return .changed(one.id, version: version) }
      }
      return .several
    case -1:
      let extra = found.first { one in
        difference.presence == .zero - one.multiplier
          && difference.versions == FieldElement(-one.version) * one.multiplier
      }
      return extra.map { .changed($0.id, version: 0) } ?? .several
    case 1:
      guard let version = (difference.versions * difference.presence.inverse).asVersion, version > 0 else {
        return .several
      }
      return .missing(difference.presence, version: version)
    default:
      return .several
    }
  }
}
