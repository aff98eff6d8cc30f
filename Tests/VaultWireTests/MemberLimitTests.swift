// What a member of a call may hold at most: at each limit it is taken, one past it is refused by the member's name.

import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct MemberLimitTests {
  private static let key = "n." + String(repeating: "k", count: Limits.keyBytes - 2)
  private static let passphrase = String(repeating: "p", count: Limits.passphraseBytes)
  private static let path = "/" + String(repeating: "p", count: Limits.pathBytes - 1)

  /// A method, its member, what stands around it, and the longest text of ASCII that it takes.
  private static let texts: [(method: String, member: String, others: String, longest: String)] = [
    ("Get", "key", "", key),
    ("Get", "account", #""key":"a.b","#, String(repeating: "a", count: Limits.accountBytes)),
    ("List", "namespace", "", String(repeating: "n", count: Limits.keyBytes)),
    ("Set", "label", #""key":"a.b","secret":"","#, String(repeating: "l", count: Limits.labelBytes)),
    ("Set", "lease", #""key":"a.b","secret":"","#, String(repeating: "l", count: Limits.leaseBytes)),
    ("GiveUp", "lease", "", String(repeating: "l", count: Limits.leaseBytes)),
    ("Unlock", "passphrase", "", passphrase), ("Init", "passphrase", "", passphrase),
    ("Unlock", "keyFile", "", path), ("AddSlot", "keyFile", "", path),
    ("Init", "credential", "", String(repeating: "c", count: Limits.credentialBytes)),
  ]

  @Test("a text is taken up to its limit and no further", arguments: texts)
  func text(method: String, member: String, others: String, longest: String) {
    #expect(refusal(method, "{\(others)\"\(member)\":\"\(longest)\"}") == "accepted")
    #expect(
      refusal(method, "{\(others)\"\(member)\":\"\(longest)x\"}").hasPrefix("InvalidArgument \(member)"))
    // Bytes count, and not characters.
    let twice = longest.dropLast() + "é"
    #expect(refusal(method, "{\(others)\"\(member)\":\"\(twice)\"}").hasPrefix("InvalidArgument \(member)"))
  }

  /// A method, its member, what stands around it, and the largest number that it takes.
  private static let numbers: [(method: String, member: String, others: String, largest: Int64)] = [
    ("Set", "expires", #""key":"a.b","secret":"","#, Limits.latestTime),
    ("Set", "expiresIn", #""key":"a.b","secret":"","#, Limits.longestDuration),
    ("Set", "idle", #""key":"a.b","secret":"","#, Limits.longestDuration),
    ("Get", "minValidity", #""key":"a.b","#, Limits.longestDuration),
    ("Refresh", "minValidity", #""key":"a.b","#, Limits.longestDuration),
    ("Refresh", "wait", #""key":"a.b","#, Limits.longestDuration),
  ]

  @Test("a time and a duration are taken from 1 up to their limit and no further", arguments: numbers)
  func number(method: String, member: String, others: String, largest: Int64) {
    for value in [1, largest] {
      #expect(refusal(method, "{\(others)\"\(member)\":\(value)}") == "accepted", "\(value)")
    }
    for value in [
      "0", "-1", "\(largest + 1)", "9223372036854775807", "9223372036854775808", "99999999999999999999",
    ] {
      #expect(
        refusal(method, "{\(others)\"\(member)\":\(value)}").hasPrefix("InvalidArgument \(member)"),
        "\(value)")
    }
  }

  @Test("an unknown name is repeated up to the limit for names, and no further")
  func echo() {
    let field = String(repeating: "m", count: Limits.echoedFieldBytes)
    #expect(refusal("Lock", "{\"\(field)\":1}") == "invalidParameter(\"\(field)\")")
    #expect(refusal("Lock", "{\"\(field)m\":1}") == #"invalidParameter("(unknown)")"#)
    let interface = String(repeating: "i", count: Limits.echoedMethodBytes)
    #expect(refusal("{\"method\":\"\(interface).M\"}") == "interfaceNotFound(\"\(interface)\")")
    #expect(refusal("{\"method\":\"\(interface)i.M\"}") == #"interfaceNotFound("(unknown)")"#)
  }
}
