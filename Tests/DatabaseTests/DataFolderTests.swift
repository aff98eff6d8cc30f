// The data folder: closed to others from its first moment, ours or refused, and one daemon's at a time.

import Foundation
import TestSupport
import Testing

@testable import Database

@Suite struct DataFolderTests {
  let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  @Test("the folder and those above it are made 0700, its files 0600")
  func made() throws {
    let path = temporary.path + "/a/b/vault"
    let folder = DataFolder(path)
    #expect(folder.fault == nil)
    for made in ["/a", "/a/b", "/a/b/vault"] { #expect(try mode(of: temporary.path + made) == 0o700) }
    try folder.create("file")
    for file in ["file", DataFolder.lockName] { #expect(try mode(of: "\(path)/\(file)") == 0o600) }
    #expect(throws: FolderFault.self) { try folder.create("file") }
  }

  @Test("a folder and a file of ours that are too loose are tightened")
  func tightened() throws {
    let path = temporary.path + "/vault"
    try makeFolder(path)
    try setMode(of: path, to: 0o777)
    try overwrite(path + "/file", with: [1])
    try setMode(of: path + "/file", to: 0o666)
    let folder = DataFolder(path)
    #expect(try folder.examine("file")?.size == 1)
    #expect(try mode(of: path) == 0o700)
    #expect(try mode(of: path + "/file") == 0o600)
  }

  @Test("a second daemon does not get the folder, and gets it when the first is gone")
  func lock() throws {
    var first: DataFolder? = DataFolder(temporary.path)
    #expect(first?.fault == nil)
    let second = DataFolder(temporary.path)
    let reason = try #require(second.fault).reason
    #expect(reason.contains("another vaultd uses") && reason.contains(temporary.path))
    #expect(!second.isWritable)
    #expect(throws: FolderFault.self) { try second.create("file") }
    first = nil
    #expect(DataFolder(temporary.path).fault == nil)
  }

  @Test("a folder of another user is refused", .enabled(if: geteuid() == 0))
  func foreignFolder() throws {
    let path = temporary.path + "/theirs"
    try makeFolder(path)
    giveAway(path, to: 65_534)
    #expect(try #require(DataFolder(path).fault).reason.contains("belongs to uid 65534"))
    try makeLink(temporary.path + "/link", to: temporary.path)
    giveAway(temporary.path + "/link", to: 65_534)
    #expect(
      try #require(DataFolder(temporary.path + "/link").fault).reason.contains("symbolic link of uid 65534"))
  }

  @Test("files of another user, symbolic links and folders in place of files are refused")
  func foreignFiles() throws {
    let folder = DataFolder(temporary.path)
    try makeLink(temporary.path + "/link", to: "/etc/passwd")
    try makeFolder(temporary.path + "/folder")
    #expect(throws: FolderFault.self) { try folder.examine("link") }
    #expect(throws: FolderFault.self) { try folder.examine("folder") }
    if geteuid() == 0 {
      try folder.create("theirs")
      giveAway(temporary.path + "/theirs", to: 65_534)
      #expect(throws: FolderFault.self) { try folder.examine("theirs") }
    }
    #expect(try folder.examine("nothing") == nil)
  }

  @Test("a link of ours to the folder is followed, and paths in it are free of links")
  func ownLink() throws {
    let real = temporary.path + "/real"
    try makeFolder(real)
    try makeLink(temporary.path + "/link", to: real)
    let folder = DataFolder(temporary.path + "/link")
    #expect(folder.fault == nil)
    #expect(folder.path(of: "file").hasSuffix("/real/file"))
  }

  @Test("a folder that was made read-only is not written, root's not excepted")
  func readOnly() throws {
    let folder = DataFolder(temporary.path)
    #expect(folder.isWritable)
    try setMode(of: temporary.path, to: 0o500)
    #expect(!folder.isWritable)
    #expect(DataFolder(temporary.path).fault != nil)
    try setMode(of: temporary.path, to: 0o700)
    #expect(folder.isWritable)
  }

  @Test("it knows which folders are below it")
  func below() throws {
    try makeFolder(temporary.path + "/vault")
    try makeFolder(temporary.path + "/vault/deep")
    let folder = DataFolder(temporary.path + "/vault")
    #expect(folder.holds(folder: temporary.path + "/vault"))
    #expect(folder.holds(folder: temporary.path + "/vault/deep"))
    #expect(!folder.holds(folder: temporary.path))
    #expect(!folder.holds(folder: "/"))
  }

  @Test("renaming never replaces a file")
  func rename() throws {
    let folder = DataFolder(temporary.path)
    try folder.create("one")
    try folder.create("other")
    #expect(throws: FolderFault.self) { try folder.rename("one", to: "other") }
    try folder.rename("one", to: "third")
    #expect(folder.identity(of: "one") == nil && folder.identity(of: "third") != nil)
  }
}
