// `vault run` while it still reads tokens: where they are not.

import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultModel
import VaultWire

@Suite struct RunTests {
  @Test("the command itself has a token neither in its environment nor on its command line")
  func ownEnvironment() throws {
    let folder = try TemporaryFolder()
    let program = Program(runtimeFolder: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/vault", withIntermediateDirectories: false)
    let entry = Entry(
      id: EntryID(try Key("a.b")), version: 7, created: WallTime(seconds: 1), modified: WallTime(seconds: 2),
      size: 6, store: .file)
    let token = Token(entry: entry, secret: SharedSecret(try SecretBytes(copying: "M4RK3R")))
    let isSecond = Mutex(false)
    // The first token is there; what comes of the second is never known.
    let daemon = try ScriptedDaemon(folder.path + "/vault/vault.sock") { _ in
      let second = isSecond.withLock { second in
        defer { second = true }
        return second
      }
      guard second else { return .reply(.token(token)) }
      _ = FileManager.default.createFile(atPath: folder.path + "/second", contents: nil)
      return .nothing
    }
    defer { daemon.stop() }
    let run = try program.shell(
      """
      "$vault" run --env A=a.b --env B=c.d -- touch \(folder.path)/started & process=$!
      until [ -e \(folder.path)/second ]; do sleep 0.01; done
      cat /proc/$process/environ /proc/$process/cmdline | tr '\\0' '\\n'
      kill -KILL $process
      """)
    #expect(run.text.contains("A=a.b\n") && run.text.contains("XDG_RUNTIME_DIR=\(folder.path)\n"))
    #expect(!run.text.contains("M4RK3R"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/started"))
  }
}
