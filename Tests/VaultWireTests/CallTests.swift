// Calls on both ends: what a client writes is what the daemon reads.

import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct CallTests {
  @Test("every call has these bytes and is read as what was written")
  func bytes() throws {
    let id = EntryID(try Key("Back4Gram.sessionToken"), try Account("alice"))
    let bare = EntryID(try Key("a.b"))
    let table: [(Call, String, String)] = [
      (.getInfo, "org.varlink.service.GetInfo", "{}"),
      (
        .getInterfaceDescription(interface: "org.vaultd.Vault"),
        "org.varlink.service.GetInterfaceDescription",
        #"{"interface":"org.vaultd.Vault"}"#
      ),
      (.get(GetRequest(id: bare)), "org.vaultd.Vault.Get", #"{"key":"a.b"}"#),
      (
        .get(GetRequest(id: id, minValidity: 60, interactive: false)), "org.vaultd.Vault.Get",
        #"{"key":"Back4Gram.sessionToken","account":"alice","minValidity":60,"interactive":false}"#
      ),
      (
        .set(SetRequest(id: bare, secret: try secret("tok\"en\n"))), "org.vaultd.Vault.Set",
        #"{"key":"a.b","secret":"tok\"en\n"}"#
      ),
      (
        .set(
          SetRequest(
            id: id, secret: try secret([0, 255]), expires: 4_102_444_800, idle: 3_600, untilLogout: true,
            label: "Chat é", ifVersion: 0, lease: "l1", interactive: false)), "org.vaultd.Vault.Set",
        #"{"key":"Back4Gram.sessionToken","account":"alice","secretBase64":"AP8=","expires":4102444800,"#
          + #""idle":3600,"untilLogout":true,"label":"Chat é","ifVersion":0,"lease":"l1","interactive":false}"#
      ),
      (
        .set(SetRequest(id: bare, secret: try secret(""), expiresIn: 90)), "org.vaultd.Vault.Set",
        #"{"key":"a.b","secret":"","expiresIn":90}"#
      ),
      (.clear(bare, ifVersion: nil), "org.vaultd.Vault.Clear", #"{"key":"a.b"}"#),
      (
        .clear(id, ifVersion: 7), "org.vaultd.Vault.Clear",
        #"{"key":"Back4Gram.sessionToken","account":"alice","ifVersion":7}"#
      ),
      (
        .clearNamespace(try Namespace("Back4Gram"), account: nil), "org.vaultd.Vault.ClearNamespace",
        #"{"namespace":"Back4Gram"}"#
      ),
      (
        .clearNamespace(try Namespace("Back4Gram"), account: .empty), "org.vaultd.Vault.ClearNamespace",
        #"{"namespace":"Back4Gram","account":""}"#
      ),
      (.list(nil), "org.vaultd.Vault.List", "{}"),
      (.list(try Namespace("a.b")), "org.vaultd.Vault.List", #"{"namespace":"a.b"}"#),
      (.touch(bare), "org.vaultd.Vault.Touch", #"{"key":"a.b"}"#),
      (
        .refresh(id, minValidity: 5, wait: 6), "org.vaultd.Vault.Refresh",
        #"{"key":"Back4Gram.sessionToken","account":"alice","minValidity":5,"wait":6}"#
      ),
      (.giveUp(lease: "l1"), "org.vaultd.Vault.GiveUp", #"{"lease":"l1"}"#),
      (
        .initialise(.passphrase(try secret("päss"))), "org.vaultd.Vault.Init", #"{"passphrase":"päss"}"#
      ),
      (.initialise(.keyFile("/k")), "org.vaultd.Vault.Init", #"{"keyFile":"/k"}"#),
      (.addSlot(.credential("vault")), "org.vaultd.Vault.AddSlot", #"{"credential":"vault"}"#),
      (.lock, "org.vaultd.Vault.Lock", "{}"),
      (.unlock(nil), "org.vaultd.Vault.Unlock", "{}"),
      (.unlock(.passphrase(try secret("p"))), "org.vaultd.Vault.Unlock", #"{"passphrase":"p"}"#),
      (.unlock(.keyFile("/k")), "org.vaultd.Vault.Unlock", #"{"keyFile":"/k"}"#),
      (.slots, "org.vaultd.Vault.Slots", "{}"),
      (.removeSlot(2), "org.vaultd.Vault.RemoveSlot", #"{"slot":2}"#),
      (.verify, "org.vaultd.Vault.Verify", "{}"),
      (.status, "org.vaultd.Vault.Status", "{}"),
    ]
    for (call, method, parameters) in table {
      #expect(call.methodName == method)
      let written = try text { try call.write(into: &$0) }
      #expect(written == #"{"method":"\#(method)","parameters":\#(parameters)}"#)
      let read = try request(written)
      #expect(try text { try read.call.write(into: &$0) } == written)
      #expect(!read.oneway && !read.more)
    }
  }

  @Test("oneway and more arrive")
  func outerFlags() throws {
    let oneway = try text { try Call.lock.write(oneway: true, into: &$0) }
    #expect(oneway == #"{"method":"org.vaultd.Vault.Lock","parameters":{},"oneway":true}"#)
    #expect(try request(oneway).oneway)
    let watch = Call.watch(namespace: try Namespace("a"), key: try Key("a.b"))
    let more = try text { try watch.write(more: true, into: &$0) }
    #expect(
      more
        == #"{"method":"org.vaultd.Vault.Watch","parameters":{"namespace":"a","key":"a.b"},"more":true}"#)
    #expect(try request(more).more)
  }
}
