// What the daemon refuses before the vault sees it, and with which error.

import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct RefusalTests {
  // MARK: Calls

  @Test(
    "what is no call is refused as malformed",
    arguments: [
      "", " ", "null", "1", "\"a\"", "[]", "[{}]", "{", "}", "{}{}", "{} x", "{}\u{0}", "{\"a\":1,}",
    ])
  func noCall(frame: String) {
    #expect(refusal(frame) == "malformed")
  }

  @Test(
    "a call that does not fit is refused by the name of the member",
    arguments: [
      ("{}", "method"),
      (#"{"method":null}"#, "method"),
      (#"{"method":1}"#, "method"),
      (#"{"method":""}"#, "method"),
      (#"{"method":"Get"}"#, "method"),
      (#"{"method":".Get"}"#, "method"),
      (#"{"method":"org.vaultd.Vault.Lock","parameters":[]}"#, "parameters"),
      (#"{"method":"org.vaultd.Vault.Lock","parameters":"x"}"#, "parameters"),
      (#"{"method":"org.vaultd.Vault.Lock","oneway":1}"#, "oneway"),
      (#"{"method":"org.vaultd.Vault.Lock","more":"yes"}"#, "more"),
      (#"{"method":"org.vaultd.Vault.Lock","upgrade":true}"#, "upgrade"),
      (#"{"method":"org.vaultd.Vault.Lock","upgrade":0}"#, "upgrade"),
      (#"{"method":"org.vaultd.Vault.Lock","Method":"x"}"#, "Method"),
      (#"{"method":"org.vaultd.Vault.Lock","key":"a.b"}"#, "key"),
      (#"{"method":"org.vaultd.Vault.Lock","method":"org.vaultd.Vault.Lock"}"#, "method"),
      (#"{"method":"org.vaultd.Vault.Lock","more":true,"more":true}"#, "more"),
      (#"{"method":"org.vaultd.Vault.Lock","more":null,"more":true}"#, "more"),
    ])
  func outerMember(frame: String, member: String) {
    #expect(refusal(frame) == #"invalidParameter("\#(member)")"#)
  }

  @Test(
    "absent and null members of a call mean the same",
    arguments: [
      #"{"method":"org.vaultd.Vault.Lock"}"#,
      #"{"method":"org.vaultd.Vault.Lock","parameters":null,"oneway":null,"more":null,"upgrade":null}"#,
      #"{"upgrade":false,"parameters":{},"method":"org.vaultd.Vault.Lock"}"#,
    ])
  func absent(frame: String) {
    #expect(refusal(frame) == "accepted")
  }

  @Test(
    "a method that is not there is refused by its name, split at the last dot",
    arguments: [
      ("org.vaultd.Vault.get", #"methodNotFound("org.vaultd.Vault.get")"#),
      ("org.vaultd.Vault.", #"methodNotFound("org.vaultd.Vault.")"#),
      ("org.vaultd.Vault.GetInfo", #"methodNotFound("org.vaultd.Vault.GetInfo")"#),
      ("org.varlink.service.Get", #"methodNotFound("org.varlink.service.Get")"#),
      ("org.vaultd.Get", #"interfaceNotFound("org.vaultd")"#),
      ("org.vaultd.Vault.Get.Get", #"interfaceNotFound("org.vaultd.Vault.Get")"#),
      ("io.systemd.Resolve.ResolveHostname", #"interfaceNotFound("io.systemd.Resolve")"#),
      ("s3cr3t!.x", #"interfaceNotFound("(unknown)")"#),
      ("org.vaultd.Vault.s3cr3t!", #"methodNotFound("(unknown)")"#),
    ])
  func unknownMethod(name: String, expected: String) {
    #expect(refusal(#"{"method":"\#(name)"}"#) == expected)
  }

  @Test("what a call says of replies holds for its refusal too")
  func oneway() {
    #expect(
      refusal(#"{"oneway":true,"method":"org.vaultd.Vault.Get"}"#) == #"invalidParameter("key") oneway"#)
    #expect(
      refusal(#"{"oneway":true,"method":"org.vaultd.Vault.Nothing"}"#)
        == #"methodNotFound("org.vaultd.Vault.Nothing") oneway"#)
    #expect(
      refusal(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"x"},"oneway":true}"#)
        .hasPrefix("InvalidArgument key: "))
  }

  @Test("Watch without more is refused")
  func watch() {
    #expect(refusal("Watch", "{}") == "expectedMore")
    #expect(refusal(#"{"method":"org.vaultd.Vault.Watch","more":true}"#) == "accepted")
  }

  // MARK: Parameters

  @Test(
    "parameters that are unknown, doubled, missing or of another type are refused by name",
    arguments: [
      ("Get", "{}", "key"),
      ("Get", #"{"key":null}"#, "key"),
      ("Get", #"{"key":1}"#, "key"),
      ("Get", #"{"key":["a.b"]}"#, "key"),
      ("Get", #"{"key":"a.b","key":"a.b"}"#, "key"),
      ("Get", #"{"key":"a.b","k\u0065y":"a.c"}"#, "key"),
      ("Get", #"{"key":"a.b","secret":"x"}"#, "secret"),
      ("Get", #"{"key":"a.b","Key":"a.b"}"#, "Key"),
      ("Get", #"{"key":"a.b","key\u0000":"a.b"}"#, "(unknown)"),
      ("Get", #"{"key":"a.b","":1}"#, "(unknown)"),
      ("Get", #"{"key":"a.b","pass word":1}"#, "(unknown)"),
      ("Get", #"{"key":"a.b","aVeryLongNameOfAMemberIndeed":1}"#, "(unknown)"),
      ("Get", #"{"key":"a.b","account":{}}"#, "account"),
      ("Get", #"{"key":"a.b","minValidity":"60"}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":true}"#, "minValidity"),
      ("Get", #"{"key":"a.b","interactive":0}"#, "interactive"),
      ("Get", #"{"key":"a.b","interactive":"false"}"#, "interactive"),
      ("Set", #"{"secret":"x"}"#, "key"),
      ("Set", #"{"key":"a.b","secret":1}"#, "secret"),
      ("Set", #"{"key":"a.b","secretBase64":false}"#, "secretBase64"),
      ("Set", #"{"key":"a.b","secret":"x","idle":1.5}"#, "idle"),
      ("Set", #"{"key":"a.b","secret":"x","expires":1e3}"#, "expires"),
      ("Set", #"{"key":"a.b","secret":"x","expires":1.0}"#, "expires"),
      ("Set", #"{"key":"a.b","secret":"x","untilLogout":null,"label":[]}"#, "label"),
      ("Clear", #"{"account":"x"}"#, "key"),
      ("Clear", #"{"key":"a.b","interactive":true}"#, "interactive"),
      ("ClearNamespace", "{}", "namespace"),
      ("ClearNamespace", #"{"account":"x"}"#, "namespace"),
      ("Touch", "{}", "key"),
      ("Refresh", "{}", "key"),
      ("GiveUp", "{}", "lease"),
      ("RemoveSlot", "{}", "slot"),
      ("RemoveSlot", #"{"slot":"1"}"#, "slot"),
      ("Unlock", #"{"credential":"x"}"#, "credential"),
      ("Init", #"{"passphrase":1}"#, "passphrase"),
      ("Init", #"{"keyFile":{}}"#, "keyFile"),
      ("Init", #"{"credential":[]}"#, "credential"),
      ("Lock", #"{"x":1}"#, "x"),
      ("Status", #"{"key":"a.b"}"#, "key"),
    ])
  func parameter(method: String, parameters: String, name: String) {
    #expect(refusal(method, parameters) == #"invalidParameter("\#(name)")"#)
  }

  @Test(
    "values that a parameter may not have are InvalidArgument, named",
    arguments: [
      ("Get", #"{"key":""}"#, "key"),
      ("Get", #"{"key":"nodot"}"#, "key"),
      ("Get", #"{"key":"a..b"}"#, "key"),
      ("Get", #"{"key":"a.b\n"}"#, "key"),
      ("Get", #"{"key":"a.b","account":"a\u0000"}"#, "account"),
      ("Get", #"{"key":"a.b","minValidity":0}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":-0}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":-1}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":31556952001}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":9223372036854775807}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":9223372036854775808}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":-9223372036854775809}"#, "minValidity"),
      ("Get", #"{"key":"a.b","minValidity":99999999999999999999}"#, "minValidity"),
      ("Set", #"{"key":"a.b"}"#, "secret"),
      ("Set", #"{"key":"a.b","secret":null,"secretBase64":null}"#, "secret"),
      ("Set", #"{"key":"a.b","secret":"x","secretBase64":"eA=="}"#, "secret"),
      ("Set", #"{"key":"a.b","secretBase64":"eA="}"#, "secretBase64"),
      ("Set", #"{"key":"a.b","secretBase64":"eA==\n"}"#, "secretBase64"),
      ("Set", #"{"key":"a.b","secret":"x","expires":0}"#, "expires"),
      ("Set", #"{"key":"a.b","secret":"x","expires":-5}"#, "expires"),
      ("Set", #"{"key":"a.b","secret":"x","expires":253402300800}"#, "expires"),
      ("Set", #"{"key":"a.b","secret":"x","expiresIn":0}"#, "expiresIn"),
      ("Set", #"{"key":"a.b","secret":"x","expires":4102444800,"expiresIn":60}"#, "expiresIn"),
      ("Set", #"{"key":"a.b","secret":"x","idle":0}"#, "idle"),
      ("Set", #"{"key":"a.b","secret":"x","label":"a\u0007"}"#, "label"),
      ("Set", #"{"key":"a.b","secret":"x","ifVersion":-1}"#, "ifVersion"),
      ("Set", #"{"key":"a.b","secret":"x","lease":""}"#, "lease"),
      ("Clear", #"{"key":"a.b","ifVersion":-1}"#, "ifVersion"),
      ("ClearNamespace", #"{"namespace":""}"#, "namespace"),
      ("ClearNamespace", #"{"namespace":"a."}"#, "namespace"),
      ("List", #"{"namespace":""}"#, "namespace"),
      ("Refresh", #"{"key":"a.b","wait":0}"#, "wait"),
      ("Init", "{}", "passphrase"),
      ("Init", #"{"passphrase":null,"keyFile":null}"#, "passphrase"),
      ("Init", #"{"passphrase":""}"#, "passphrase"),
      ("Init", #"{"passphrase":"p","keyFile":"/k"}"#, "keyFile"),
      ("Init", #"{"keyFile":"/k","credential":"c"}"#, "credential"),
      ("Init", #"{"keyFile":""}"#, "keyFile"),
      ("Init", #"{"keyFile":"relative"}"#, "keyFile"),
      ("Init", #"{"keyFile":"/a\u0000b"}"#, "keyFile"),
      ("Init", #"{"credential":""}"#, "credential"),
      ("Init", #"{"credential":".."}"#, "credential"),
      ("Init", #"{"credential":"a/b"}"#, "credential"),
      ("AddSlot", "{}", "passphrase"),
      ("Unlock", #"{"passphrase":"p","keyFile":"/k"}"#, "keyFile"),
    ])
  func argument(method: String, parameters: String, name: String) {
    #expect(refusal(method, parameters).hasPrefix("InvalidArgument \(name): "))
  }

  @Test(
    "values at their limits are taken",
    arguments: [
      ("Get", #"{"key":"a.b","account":"","minValidity":31556952000,"interactive":null}"#),
      ("Get", #"{"minValidity":1,"key":"a.b"}"#),
      ("Set", #"{"key":"a.b","secret":"","secretBase64":null,"expires":253402300799}"#),
      ("Set", #"{"key":"a.b","secretBase64":"","ifVersion":9223372036854775807,"label":""}"#),
      ("Set", #"{"key":"a.b","secret":"x","ifVersion":-0}"#),
      ("RemoveSlot", #"{"slot":-9223372036854775808}"#),
      ("Unlock", #"{"passphrase":null,"keyFile":null}"#),
      ("List", #"{"namespace":null}"#),
    ])
  func atLimit(method: String, parameters: String) {
    #expect(refusal(method, parameters) == "accepted")
  }

  @Test("a passphrase of 4,096 bytes is taken, one of 4,097 is not; so with paths, leases and credentials")
  func lengths() {
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    #expect(refusal("Init", #"{"passphrase":"\#(text(4_096))"}"#) == "accepted")
    #expect(refusal("Init", #"{"passphrase":"\#(text(4_097))"}"#).hasPrefix("InvalidArgument passphrase"))
    #expect(refusal("Init", #"{"keyFile":"/\#(text(4_095))"}"#) == "accepted")
    #expect(refusal("Init", #"{"keyFile":"/\#(text(4_096))"}"#).hasPrefix("InvalidArgument keyFile"))
    #expect(refusal("Init", #"{"credential":"\#(text(255))"}"#) == "accepted")
    #expect(refusal("Init", #"{"credential":"\#(text(256))"}"#).hasPrefix("InvalidArgument credential"))
    #expect(refusal("GiveUp", #"{"lease":"\#(text(64))"}"#) == "accepted")
    #expect(refusal("GiveUp", #"{"lease":"\#(text(65))"}"#).hasPrefix("InvalidArgument lease"))
    #expect(refusal("Get", #"{"key":"a.b","\#(text(24))":1}"#) == #"invalidParameter("\#(text(24))")"#)
    #expect(refusal("Get", #"{"key":"a.b","\#(text(25))":1}"#) == #"invalidParameter("(unknown)")"#)
  }

  @Test("no refusal repeats a value")
  func noEcho() {
    let marker = "M4RK3R"
    let frames = [
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secretBase64":"\#(marker)!"}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"\#(marker)","secret":"\#(marker)"}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":["\#(marker)"]}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","label":"\#(marker)\u0000","secret":""}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":"x","lease":"\#(marker)","idle":0}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","\#(marker)-\#(marker)":"x"}}"#,
      #"{"method":"org.vaultd.Vault.Init","parameters":{"keyFile":"\#(marker)"}}"#,
      #"{"method":"org.vaultd.Vault.Init","parameters":{"credential":"/\#(marker)"}}"#,
      #"{"method":"org.vaultd.Vault.Init","parameters":{"passphrase":["\#(marker)"]}}"#,
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":"\#(marker)}"#,
    ]
    for frame in frames {
      let refusal = refusal(frame)
      #expect(refusal != "accepted")
      #expect(!refusal.contains(marker), "\(frame)")
    }
  }
}
