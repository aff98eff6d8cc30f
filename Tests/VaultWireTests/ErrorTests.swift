// Error replies on both ends: exact bytes, and that each error arrives as itself.

import Testing
import VaultModel
import VaultWire

@Suite struct ErrorTests {
  @Test("every outcome has these bytes and arrives as itself")
  func vaultErrors() throws {
    let id = EntryID(try Key("a.b"), try Account("x"))
    let table: [(VaultError, String, String)] = [
      (.notFound(id), "NotFound", #"{"key":"a.b","account":"x"}"#),
      (
        .invalidArgument(argument: "key", reason: "is \"bad\""), "InvalidArgument",
        #"{"argument":"key","reason":"is \"bad\""}"#
      ),
      (
        .expired(id, at: WallTime(seconds: 5)), "Expired", #"{"key":"a.b","account":"x","expired":5}"#
      ),
      (.locked(store: .file, reason: "r"), "Locked", #"{"store":"file","reason":"r"}"#),
      (.denied(reason: "r"), "Denied", #"{"reason":"r"}"#),
      (.conflict(id, version: 0), "Conflict", #"{"key":"a.b","account":"x","version":0}"#),
      (
        .unavailable(store: .secretService, reason: "r"), "Unavailable",
        #"{"store":"secret_service","reason":"r"}"#
      ),
      (
        .unavailable(store: .state, reason: "r", stored: WallTime(seconds: 9)), "Unavailable",
        #"{"store":"state","reason":"r","stored":9}"#
      ),
      (.damaged(store: .session, reason: "r"), "Damaged", #"{"store":"session","reason":"r"}"#),
      (.wrongPassphrase, "WrongPassphrase", "{}"),
      (
        .unsupportedVersion(found: 2, supported: 1), "UnsupportedVersion", #"{"found":2,"supported":1}"#
      ),
      (.tooLarge(size: 1_048_577, limit: 1_048_576), "TooLarge", #"{"size":1048577,"limit":1048576}"#),
      (.internal(reason: "r"), "Internal", #"{"reason":"r"}"#),
    ]
    for (error, name, parameters) in table {
      let written = try frame { try error.writeReply(into: &$0) }
      #expect(
        String(decoding: written, as: UTF8.self)
          == #"{"error":"org.vaultd.Vault.\#(name)","parameters":\#(parameters)}"#)
      do throws(ReplyFailure) {
        _ = try reply(written, to: .lock)
        Issue.record("no error: \(name)")
      } catch {
        guard case .vault(let read) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(try frame { try read.writeReply(into: &$0) } == written)
      }
    }
    #expect(Set(table.map(\.0.outcome)).count == Outcome.allCases.count - 1)
  }

  @Test("every error of the service has these bytes and arrives as itself")
  func serviceErrors() throws {
    let table: [(ServiceError, String, String)] = [
      (.interfaceNotFound("a.b"), "InterfaceNotFound", #"{"interface":"a.b"}"#),
      (.methodNotFound("a.b.C"), "MethodNotFound", #"{"method":"a.b.C"}"#),
      (.methodNotImplemented("a.b.C"), "MethodNotImplemented", #"{"method":"a.b.C"}"#),
      (.invalidParameter("key"), "InvalidParameter", #"{"parameter":"key"}"#),
      (.permissionDenied, "PermissionDenied", "{}"),
      (.expectedMore, "ExpectedMore", "{}"),
    ]
    for (sent, name, parameters) in table {
      let written = try frame { try sent.writeReply(into: &$0) }
      #expect(
        String(decoding: written, as: UTF8.self)
          == #"{"error":"org.varlink.service.\#(name)","parameters":\#(parameters)}"#)
      do throws(ReplyFailure) {
        _ = try reply(written, to: .lock)
        Issue.record("no error: \(name)")
      } catch {
        guard case .service(let read) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(read == sent)
      }
    }
  }

  @Test("a refusal is answered as what it is, a malformed frame without a word of it")
  func refusals() throws {
    let error = VaultError.tooLarge(size: 2, limit: 1)
    let table: [(Refusal, Bool, String)] = [
      (
        .malformed, false,
        #"{"error":"org.vaultd.Vault.InvalidArgument","parameters":{"argument":"request","reason":"#
          + #""is not a call in JSON (RFC 8259), or too deep or too long; the connection ends"}}"#
      ),
      (
        .service(.expectedMore, oneway: false), false,
        #"{"error":"org.varlink.service.ExpectedMore","parameters":{}}"#
      ),
      (.vault(error, oneway: true), true, try text { try error.writeReply(into: &$0) }),
    ]
    for (refusal, oneway, written) in table {
      #expect(refusal.oneway == oneway)
      #expect(try text { try refusal.writeReply(into: &$0) } == written)
    }
  }

  @Test("a place that a client doesn't know is the vault as a whole")
  func newPlace() throws {
    let written = #"{"error":"org.vaultd.Vault.Locked","parameters":{"store":"cloud","reason":"r"}}"#
    do throws(ReplyFailure) {
      _ = try reply(Array(written.utf8), to: .lock)
      Issue.record("no error")
    } catch {
      guard case .vault(.locked(store: .vault, reason: "r")) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }
}
