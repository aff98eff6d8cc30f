// What the pages show to people who write clients: it is what the files say, it builds outside of this repository, and
// it does what the page promises.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("The clients of the clients' page")
  struct ClientPageTests {
    @Test("the page shows the examples as they are in their files", arguments: ["swift", "py"])
    func quoted(language: String) throws {
      let text = try Project.text("docs/examples/renew.\(language)")
      let fence = language == "py" ? "python" : language
      #expect(try Project.text("docs/clients.md").contains("```\(fence)\n\(text)```\n"))
    }

    /// A program that renews `Chat.token` of alice, whichever it is written in.
    private func renews(_ program: [String], in session: ThrowawaySession, _ daemon: DaemonUnderTest) throws {
      let service = try ChatService("provider", in: session)
      let command = program + ["Chat.token", "alice", service.address + "/token"]
      // Ten at once, where nothing is stored: one renews.
      let examples = try (0..<10).map { _ in try RunningExample(command, environment: [:], in: session) }
      for example in examples {
        let ended = try example.wait()
        #expect(ended == (0, "alice-1\n"))
      }
      let entry = try session.vault("get", "Chat.token", "--account", "alice", "--json").json
      let end = try #require(entry["expires"] as? Int) - Int(Date().timeIntervalSince1970)
      #expect((3_500...3_600).contains(end))
      // With too little left it renews; with enough it doesn't.
      expectSuccess(
        try session.vault(
          "set", "Chat.token", "--account", "alice", "--expires-in", "50", input: Data("old".utf8)))
      for _ in 0..<2 { #expect(try session.command(command).text == "alice-2\n") }
      // A renewal that fails leaves the lease to the next one.
      expectSuccess(try session.vault("clear", "Chat.token", "--account", "alice"))
      let broken = try session.command(program + ["Chat.token", "alice", service.address + "/nothing"])
      #expect(broken.status != 0 && broken.output.isEmpty)
      #expect(try session.command(command).text == "alice-3\n")
      // The daemon is killed while the provider answers: what was renewed is stored with the next daemon.
      expectSuccess(try session.vault("clear", "Chat.token", "--account", "alice"))
      try service.hold()
      let example = try RunningExample(command, environment: [:], in: session)
      try service.waitForHeld()
      daemon.kill(SIGKILL)
      try daemon.wait()
      _ = try session.daemon("--store", "file")
      try service.release()
      let ended = try example.wait()
      #expect(ended == (0, "alice-4\n"))
      #expect(try session.get("Chat.token", account: "alice") == Data("alice-4".utf8))
      #expect(try service.look().issued == 4)
    }

    @Test("the one in Python renews in one process at a time, also when the daemon is killed meanwhile")
    func python() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        try renews(["/usr/bin/python3", Project.root + "/docs/examples/renew.py"], in: session, daemon)
      }
    }

    @Test("a package outside of this one builds the clients of README and page, and code for the iOS wrapper")
    func outside() throws {
      let readme = try Project.text("README.md")
      let example = try #require(readme.firstMatch(of: #/\n```swift\n((?:.*\n)*?)```\n/#)).1
      let wrapper = """
        import SwiftKeychainWrapper

        extension KeychainWrapper.Key { static let token: KeychainWrapper.Key = "Back4Gram.sessionToken" }

        let saved: Bool = KeychainWrapper.standard.set("r:1", forKey: "Back4Gram.sessionToken")
        KeychainWrapper(serviceName: "Chat").set(7, forKey: "unread", withAccessibility: .afterFirstUnlock)
        let text: String? = KeychainWrapper.standard[.token]
        print(saved, text ?? "none", KeychainWrapper(serviceName: "Chat").integer(forKey: "unread") ?? 0)
        let removed: Bool = KeychainWrapper.standard.removeObject(forKey: "Back4Gram.sessionToken")
        print(removed, KeychainWrapper.standard.hasValue(forKey: "Back4Gram.sessionToken"))
        """
      let sources = [
        ("readme", "VaultClient", String(example)),
        ("renew", "VaultClient", try Project.text("docs/examples/renew.swift")),
        ("wrapper", "SwiftKeychainWrapper", wrapper),
      ]
      try ThrowawaySession.with { session in
        let folder = session.folder + "/outside"
        let identity = URL(filePath: Project.root).lastPathComponent
        let targets = sources.map { name, library, _ in
          #".executableTarget(name: "\#(name)", dependencies: [.product(name: "\#(library)", package: "\#(identity)")])"#
        }
        let manifest = """
          // swift-tools-version: 6.2
          import PackageDescription
          let package = Package(
            name: "outside", dependencies: [.package(path: "\(Project.root)")],
            targets: [\(targets.joined(separator: ", "))])
          """
        func write(_ text: String, _ path: String) throws {
          let file = URL(filePath: "\(folder)/\(path)")
          try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try Data(text.utf8).write(to: file)
        }
        try write(manifest, "Package.swift")
        for (name, _, text) in sources { try write(text, "Sources/\(name)/main.swift") }
        // What is built is kept with this build, since it takes long.
        let scratch = Project.root + "/.build/outside"
        let environment = ProcessInfo.processInfo.environment
        let built = try run(
          [environment["SWIFT"] ?? "swift", "build", "--scratch-path", scratch], environment: environment,
          folder: folder, seconds: 800)
        try #require(built.status == 0, "\(built.text)\(built.errors)")

        let daemon = try session.daemonWithFile()
        let programs = scratch + "/debug/"
        #expect(try session.command([programs + "readme"]).text == "r:cbca71d29d76\nlog in first\n")
        #expect(try session.command([programs + "wrapper"]).text == "true r:1 7\ntrue false\n")
        #expect(try session.get("Chat.unread") != nil)
        try renews([programs + "renew"], in: session, daemon)
      }
    }
  }
}
