// The manual pages: well-formed, and true where that can be compared.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("The manual pages")
  struct ManualTests {
    static let pages = ["vault.1", "vaultd.1", "vaultd.conf.5", "vault-protocol.7"]

    private func page(_ name: String) throws -> String { try Project.text("man/" + name) }

    /// The first words of the page's items that are marked so, commas between several of one item apart.
    private func items(_ name: String, _ mark: String) throws -> Set<String> {
      let lines = try page(name).split(separator: "\n").filter { $0.hasPrefix(".It \(mark) ") }
      return Set(
        lines.flatMap { line in
          line.dropFirst(5 + mark.count).split(separator: ",").compactMap { item in
            item.split(separator: " ").first.map(String.init)
          }
        })
    }

    private func flags(in text: String) -> Set<String> {
      Set(text.matches(of: /(?:^|[ \[(|])--([a-z][a-z-]*)/.anchorsMatchLineEndings()).map { String($0.1) })
    }

    @Test("both formatters have nothing to complain of", arguments: pages)
    func wellFormed(name: String) throws {
      let path = "\(Project.root)/man/\(name)"
      let environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"]
      let lint = try run(["mandoc", "-T", "lint", path], environment: environment)
      // Whether the pages of others are installed here is not ours to mend.
      let complaints = (lint.text + lint.errors).split(separator: "\n").filter {
        !$0.contains("referenced manual not found") && !$0.contains("outdated mandoc.db")
      }
      #expect(complaints.isEmpty, "\(complaints)")
      let man = try run(["man", "--warnings", "-E", "UTF-8", "-l", path], environment: environment)
      #expect(man.status == 0 && man.errors.isEmpty, "\(man.errors)")
      #expect(man.text.contains("SEE ALSO"))
    }

    @Test("vault(1) shows every way to call the command, as help does")
    func synopsis() throws {
      try ThrowawaySession.with { session in
        func plain(_ text: some StringProtocol) -> String {
          text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(" | ", with: "|")
        }
        var helped: [String] = []
        for line in try session.vault("help").text.split(separator: "\n") {
          if line.hasPrefix("  vault "), !line.hasPrefix("  vault --") {
            helped.append(String(line))
          } else if line.hasPrefix("          "), !helped.isEmpty {
            helped[helped.count - 1] += String(line)
          }
        }
        let shown = try session.command([
          "mandoc", "-T", "ascii", "-O", "width=1000", "\(Project.root)/man/vault.1",
        ]).text
        let backspaced = shown.replacing(/.\x08/, with: "")
        let part = try #require(backspaced.firstMatch(of: /\nSYNOPSIS\n((?:.*\n)*?)\nDESCRIPTION\n/)).1
        let manual = part.split(separator: "\n").map(plain).filter { $0 != "vault --version" }
        #expect(helped.count > 15)
        #expect(Set(manual) == Set(helped.map(plain)))
      }
    }

    @Test("vault(1) explains the flags that help does, and no other; so vaultd(1) and vaultd.conf(5)")
    func flags() throws {
      try ThrowawaySession.with { session in
        var helped: Set<String> = ["version"]
        for line in try session.vault("help").text.split(separator: "\n") where line.hasPrefix("  vault ") {
          let words = line.split(separator: " ").dropFirst().prefix { $0.allSatisfy { $0.isLowercase } }
          helped.formUnion(
            flags(in: try session.command([Project.vault, "help"] + words.prefix(1).map(String.init)).text))
        }
        #expect(try items("vault.1", "Fl") == Set(helped.map { "-" + $0 }))

        let daemon = flags(in: try session.command([Project.vaultd, "--help"]).text)
        #expect(daemon.count > 10)
        #expect(try items("vaultd.1", "Fl") == Set(daemon.map { "-" + $0 }))
        #expect(try items("vaultd.conf.5", "Cm") == daemon.subtracting(["config", "help", "version"]))
      }
    }

    @Test("vault(1) has the exit statuses of help")
    func statuses() throws {
      try ThrowawaySession.with { session in
        let text = try session.vault("help").text
        let part = try #require(text.firstMatch(of: /Exit status: ([^.]*)\./)).1
        let helped = Set(part.matches(of: #/(?:^|;\s+)(\d+) /#).map { String($0.1) })
        let manual = try items("vault.1", "").union(
          Set(try page("vault.1").matches(of: /\n\.It (\d+)\n/).map { String($0.1) }))
        #expect(helped.count == 14)
        #expect(manual.filter { $0.allSatisfy(\.isNumber) } == helped)
      }
    }

    @Test("vault-protocol(7) names the methods and errors of the interface, with their statuses")
    func interface() throws {
      let text = try Project.text("Sources/VaultWire/org.vaultd.Vault.varlink")
      let methods = Set(text.matches(of: /\nmethod (\w+)/).map { String($0.1) })
      let errors = Set(text.matches(of: /\nerror (\w+)/).map { String($0.1) })
      #expect(try items("vault-protocol.7", "Ic") == methods.union(errors))
    }
  }
}
