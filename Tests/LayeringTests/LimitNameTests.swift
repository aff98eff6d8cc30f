// Every limit of what comes from outside is stood at, and one past it, by a test that names it.

import Foundation
import Testing

@Suite("Limits") struct LimitNameTests {
  /// What is no limit that somebody can stand at: the tokens of the largest reply take 200 MB, and the memory that a
  /// client keeps is seen by nobody.
  private static let exempt: Set = ["replyTokens", "replyBufferBytes"]

  @Test("a limit of what is stored or sent is named in a test")
  func named() throws {
    let limits = try String(contentsOfFile: Source.root + "/Sources/VaultModel/Limits.swift", encoding: .utf8)
    let part = limits.components(separatedBy: "// What is stored.").last?
      .components(separatedBy: "// What a client may take up.").first
    let names = try #require(part).matches(of: #/public static let (\w+)/#).map { String($0.1) }
    #expect(names.count > 15)
    let folder = Source.root + "/Tests"
    let tests = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") }
      .compactMap { try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
    for name in names where !Self.exempt.contains(name) {
      #expect(tests.contains(try Regex("Limits\\.\(name)\\b")), "\(name)")
    }
  }
}
