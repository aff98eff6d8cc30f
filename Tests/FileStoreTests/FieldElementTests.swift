// Arithmetic modulo 2^127 − 1, and what it finds out.

import Testing
import VaultModel

@testable import FileStore

@Suite struct FieldElementTests {
  private let prime: UInt128 = 1 << 127 - 1

  @Test("sums, differences and products are those of whole numbers modulo the prime")
  func arithmetic() {
    let edges: [UInt128] = [0, 1, 2, 3, 1 << 63, 1 << 64 - 1, 1 << 64, 1 << 126, prime - 2, prime - 1]
    for left in edges {
      for right in edges {
        let (one, other) = (FieldElement(reducing: left), FieldElement(reducing: right))
        #expect((one + other).value == (left + right) % prime)
        #expect((one - other).value == (left + (prime - right)) % prime)
        #expect((one * other).value == product(left, right))
      }
    }
    #expect(FieldElement(reducing: prime) == .zero)
    #expect(FieldElement(reducing: .max).value == UInt128.max % prime)
    #expect(FieldElement(-1 as Int64).value == prime - 1)
  }

  /// By doubling and adding, as at school.
  private func product(_ left: UInt128, _ right: UInt128) -> UInt128 {
    var (result, power, rest): (UInt128, UInt128, UInt128) = (0, left % prime, right)
    while rest > 0 {
      if rest & 1 == 1 { result = (result + power) % prime }
      power = (power + power) % prime
      rest >>= 1
    }
    return result
  }

  @Test("a number times its inverse is 1")
  func inverses() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      let number = FieldElement(reducing: UInt128.random(in: 1..<prime, using: &random))
      #expect((number * number.inverse).value == 1)
    }
    #expect(FieldElement.zero.inverse == .zero)
  }

  @Test("versions and their differences are told from other numbers")
  func versions() {
    for number in [0, 1, -1, 1_900_000_000_000, Standing.largestVersion, -Standing.largestVersion] {
      #expect(FieldElement(number).asVersion == number)
    }
    #expect((FieldElement(Standing.largestVersion) + FieldElement(1 as Int64)).asVersion == nil)
    #expect(FieldElement(reducing: 1 << 126).asVersion == nil)
  }

  /// A bucket of some records, and its sums.
  private func bucket() -> ([Blame.Found], BucketSums) {
    var random = SeededGenerator(seed: 5)
    let found = (1...9).map { number in
      Blame.Found(
        id: RecordID(row: Int64(number)), version: Int64(1_000 + number),
        multiplier: FieldElement(reducing: UInt128.random(in: 1..<prime, using: &random)))
    }
    return (found, sums(found))
  }

  private func sums(_ found: [Blame.Found]) -> BucketSums {
    var sums = BucketSums()
    for one in found { sums.change(one.multiplier, from: 0, to: one.version) }
    return sums
  }

  @Test("a single change is blamed on the one record that explains it")
  func blame() {
    let (records, stated) = bucket()
    #expect(Blame.find(stated - sums(records), in: records) == nil)
    var aged = records
    aged[3].version -= 500
    #expect(Blame.find(stated - sums(aged), in: aged) == .changed(records[3].id, version: records[3].version))
    let fewer = Array(records.dropLast())
    #expect(
      Blame.find(stated - sums(fewer), in: fewer)
        == .missing(records[8].multiplier, version: records[8].version))
    #expect(Blame.find(sums(fewer) - stated, in: records) == .changed(records[8].id, version: 0))
    let none: [Blame.Found] = []
    #expect(
      Blame.find(sums([records[0]]), in: none) == .missing(records[0].multiplier, version: records[0].version)
    )
  }

  @Test("what takes several records to explain is blamed on none of them")
  func several() {
    let (records, stated) = bucket()
    var aged = records
    aged[3].version -= 1
    aged[4].version += 1
    #expect(Blame.find(stated - sums(aged), in: aged) == .several)
    let fewer = Array(records.dropLast(2))
    #expect(Blame.find(stated - sums(fewer), in: fewer) == .several)
    var mixed = Array(records.dropLast())
    mixed[0].version += 7
    #expect(Blame.find(stated - sums(mixed), in: mixed) == .several)
    // Two of one version look like one that nobody knows.
    var twins = records
    twins[8].version = twins[7].version
    let without = Array(twins.dropLast(2))
    #expect(Blame.find(sums(twins) - sums(without), in: without) == .several)
    // A row under another id is not the row that is missing.
    var renamed = records
    renamed[0].multiplier = FieldElement(12_345 as Int64)
    #expect(Blame.find(stated - sums(renamed), in: renamed) == .several)
    #expect(Blame.find(stated - sums(records), in: records + [records[0]]) == nil)
    #expect(Blame.find(stated - sums(records + [records[0]]), in: records + [records[0]]) == .several)
    // A version that none could have is none.
    let far = sums([Blame.Found(id: records[0].id, version: -5, multiplier: records[0].multiplier)])
    #expect(Blame.find(far, in: []) == .several)
  }
}
