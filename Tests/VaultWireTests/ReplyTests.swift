// Replies on both ends: exact bytes, and what a client reads from them.

import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct ReplyTests {
  private static func entry(
    _ key: String = "a.b", account: String = "", expires: Int64? = nil, idle: Int64? = nil,
    label: String? = nil
  ) throws -> Entry {
    Entry(
      id: EntryID(try Key(key), try Account(account)), version: 1_900_000_000_000,
      created: WallTime(milliseconds: 1_900_000_000_999), modified: WallTime(milliseconds: 1_900_000_001_000),
      expires: expires.map(WallTime.init(milliseconds:)), idle: idle, untilLogout: idle != nil, label: label,
      size: 3, store: .file, pending: label != nil)
  }

  private static let bare =
    #"{"key":"a.b","account":"","version":1900000000000,"created":1900000000,"modified":1900000001,"#
    + #""untilLogout":false,"size":3,"store":"file","pending":false}"#
  private static let full =
    #"{"key":"ä.b","account":"al\"ice","version":1900000000000,"created":1900000000,"modified":1900000001,"#
    + #""expires":1900000009,"idle":60,"untilLogout":true,"label":"a \\ b","size":3,"store":"file","pending":true}"#

  private static func table() throws -> [(Call, Reply, String)] {
    let id = EntryID(try Key("a.b"))
    let get = Call.get(GetRequest(id: id))
    let bareEntry = try entry()
    let fullEntry = try entry(
      "ä.b", account: "al\"ice", expires: 1_900_000_009_999, idle: 60, label: "a \\ b")
    let slot = Slot(number: 2, kind: .keyFile, detail: "/k", created: WallTime(seconds: 5))
    let refresh = Call.refresh(id, minValidity: nil, wait: nil)
    let watch = Call.watch(namespace: nil, key: nil)
    return [
      (
        .getInfo,
        .info(ServiceInfo(vendor: "v", product: "p", version: "1", url: "u", interfaces: ["a.b", "c.d"])),
        #"{"vendor":"v","product":"p","version":"1","url":"u","interfaces":["a.b","c.d"]}"#
      ),
      (
        .getInterfaceDescription(interface: "a.b"), .interfaceDescription("interface a.b\n"),
        #"{"description":"interface a.b\n"}"#
      ),
      (
        get, .token(Token(entry: bareEntry, secret: try secret("tok"))),
        #"{"secret":"tok","entry":\#(bare)}"#
      ),
      (
        get, .token(Token(entry: fullEntry, secret: try secret([0, 1, 255]))),
        #"{"secretBase64":"AAH/","entry":\#(full)}"#
      ),
      (.touch(id), .entry(bareEntry), #"{"entry":\#(bare)}"#),
      (
        .clear(id, ifVersion: nil), .clearance(Clearance(cleared: 1, pending: false)),
        #"{"cleared":true,"pending":false}"#
      ),
      (
        .clear(id, ifVersion: nil), .clearance(Clearance(cleared: 0, pending: true)),
        #"{"cleared":false,"pending":true}"#
      ),
      (
        .clearNamespace(try Namespace("a"), account: nil),
        .namespaceClearance(Clearance(cleared: 12, pending: true)),
        #"{"cleared":12,"pending":true}"#
      ),
      (.list(nil), .entries([]), #"{"entries":[]}"#),
      (.list(nil), .entries([bareEntry, fullEntry]), #"{"entries":[\#(bare),\#(full)]}"#),
      (watch, .event(nil), "{}"),
      (
        watch, .event(VaultEvent(.set, id: id, version: 7, store: .secretService)),
        #"{"event":"set","key":"a.b","account":"","version":7,"store":"secret_service"}"#
      ),
      (watch, .event(VaultEvent(.locked, store: .file)), #"{"event":"locked","store":"file"}"#),
      (refresh, .refreshed(lease: "l", token: nil, entry: nil), #"{"lease":"l"}"#),
      (
        refresh, .refreshed(lease: "l", token: nil, entry: bareEntry), #"{"lease":"l","entry":\#(bare)}"#
      ),
      (
        refresh,
        .refreshed(lease: nil, token: Token(entry: bareEntry, secret: try secret("t")), entry: bareEntry),
        #"{"secret":"t","entry":\#(bare)}"#
      ),
      (.slots, .slots([]), #"{"slots":[]}"#),
      (
        .slots, .slots([slot, slot]),
        #"{"slots":[{"slot":2,"kind":"key_file","detail":"/k","created":5},"#
          + #"{"slot":2,"kind":"key_file","detail":"/k","created":5}]}"#
      ),
      (
        .addSlot(.keyFile("/k")), .slot(slot),
        #"{"slot":{"slot":2,"kind":"key_file","detail":"/k","created":5}}"#
      ),
      (
        .verify, .verification(Verification(records: 5, damaged: 1, sound: false)),
        #"{"records":5,"damaged":1,"sound":false}"#
      ),
      (
        .status,
        .status(
          DaemonStatus(
            version: "1", pid: 7, since: WallTime(seconds: 9), preference: .secretService,
            stores: [
              StoreStatus(store: .file, state: .locked, detail: "d", entries: 3, pending: 2),
              StoreStatus(store: .session, state: .absent, detail: "", entries: 0, pending: 0),
            ], protections: ["no dump": true, "locked memory": false])),
        #"{"version":"1","pid":7,"since":9,"preference":"secret_service","stores":["#
          + #"{"store":"file","state":"locked","detail":"d","entries":3,"pending":2},"#
          + #"{"store":"session","state":"absent","detail":"","entries":0,"pending":0}],"#
          + #""protections":{"locked memory":false,"no dump":true}}"#
      ),
      (.lock, .empty, "{}"),
    ]
  }

  @Test("every reply has these bytes and is read as what was written")
  func bytes() throws {
    for (call, sent, parameters) in try Self.table() {
      for continues in [false, true] {
        let written = try frame { try sent.write(continues: continues, into: &$0) }
        #expect(
          String(decoding: written, as: UTF8.self)
            == #"{"parameters":\#(parameters)\#(continues ? #","continues":true"# : "")}"#)
        let read = try reply(written, to: call)
        #expect(read.continues == continues)
        // What is finer than a second is not on the wire: what was read is written again just so.
        #expect(try frame { try read.reply.write(continues: continues, into: &$0) } == written)
      }
    }
  }

  @Test("fields arrive, times as whole seconds, rounded down")
  func fields() throws {
    let sent = try Self.entry("ä.b", account: "x", expires: 1_900_000_009_999, idle: 60, label: "")
    guard
      case .entry(let entry) = try reply(
        try frame { try Reply.entry(sent).write(into: &$0) }, to: .touch(sent.id)
      ).reply
    else { throw UnfinishedFrame() }
    var expected = sent
    expected.created = WallTime(seconds: 1_900_000_000)
    expected.expires = WallTime(seconds: 1_900_000_009)
    #expect(entry == expected)
  }

  @Test("a client passes over members that it doesn't know")
  func newerDaemon() throws {
    let written = #"{"parameters":{"cleared":true,"pending":false,"more":{"a":[1,{}]}},"since":"2030"}"#
    guard
      case .clearance(let clearance) = try reply(
        Array(written.utf8), to: .clear(EntryID(try Key("a.b")), ifVersion: nil)
      ).reply
    else { throw UnfinishedFrame() }
    #expect(clearance == Clearance(cleared: 1, pending: false))
  }

  @Test(
    "replies that lack something, or have it of another type, are malformed",
    arguments: [
      "", "[]", "{}", #"{"parameters":{}}"#, #"{"parameters":[]}"#, #"{"parameters":{"entry":{}}}"#,
      #"{"parameters":{"entry":null}}"#, #"{"parameters":{"entry":\#(bare)},"continues":1}"#,
      #"{"parameters":{"entry":\#(bare),"entry":\#(bare)}}"#, #"{"error":1}"#, #"{"error":""}"#,
      #"{"error":"org.vaultd.Vault"}"#, #"{"error":"org.vaultd.Vault.Other"}"#,
      #"{"error":"org.vaultd.Vault.NoDaemon"}"#, #"{"error":"org.vaultd.Vault.NotFound"}"#,
      #"{"error":"org.vaultd.Vault.NotFound","parameters":{"key":"nodot","account":""}}"#,
      #"{"error":"org.vaultd.Vault.Locked","parameters":{"store":"file"}}"#,
      #"{"error":"org.varlink.service.InvalidParameter"}"#, #"{"error":"com.example.Error"}"#,
      #"{"parameters":{"entry":{"key":"a.b","account":"","version":1e3,"created":1,"modified":1,"#
        + #""untilLogout":false,"size":1,"store":"file","pending":false}}}"#,
      #"{"parameters":{"entry":{"key":"a.b","account":"","version":1,"created":1,"modified":1,"#
        + #""untilLogout":false,"size":1,"store":"elsewhere","pending":false}}}"#,
    ])
  func malformed(written: String) throws {
    let touch = Call.touch(EntryID(try Key("a.b")))
    do throws(ReplyFailure) {
      _ = try reply(Array(written.utf8), to: touch)
      Issue.record("taken: \(written)")
    } catch {
      guard case .malformed = error else {
        Issue.record("\(error): \(written)")
        return
      }
    }
  }

  @Test("a Get without a secret, or with two, is malformed")
  func noSecret() throws {
    let get = Call.get(GetRequest(id: EntryID(try Key("a.b"))))
    for secret in ["", #""secret":null,"#, #""secret":"","secretBase64":"","#, #""secretBase64":"A","#] {
      let written = #"{"parameters":{\#(secret)"entry":\#(Self.bare)}}"#
      #expect(throws: ReplyFailure.self) { try reply(Array(written.utf8), to: get) }
    }
  }
}
