// When a JWT says that it is over, and what is no JWT.

import Foundation
import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct JWTTests {
  private func base64url(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  private func token(_ claims: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#) -> String {
    "\(base64url(header)).\(base64url(claims)).c2lnbmF0dXJl"
  }

  private func expiry(_ token: String) throws -> Int64? {
    try JWT.expiry(of: SharedSecret(SecretBytes(copying: token)), argument: "--expires-from-jwt")
  }

  @Test(
    "the claim exp is read, rounded down to whole seconds",
    arguments: [
      ("1900000000", 1_900_000_000), ("1900000000.999999999999999", 1_900_000_000), ("1", 1),
      ("1.9e9", 1_900_000_000), ("19E8", 1_900_000_000), ("253402300799", 253_402_300_799),
    ] as [(String, Int64)])
  func read(exp: String, seconds: Int64) throws {
    #expect(try expiry(token(#"{"user_id":"alice ~~?","exp":\#(exp),"scope":["a",{"exp":1}]}"#)) == seconds)
  }

  @Test("a JWT without exp never expires, nor does one that is not signed")
  func never() throws {
    #expect(try expiry(token(#"{"user_id":"alice"}"#)) == nil)
    #expect(try expiry(token("{}")) == nil)
    #expect(try expiry("\(base64url(#"{"alg":"none"}"#)).\(base64url(#"{"exp":5}"#)).") == 5)
  }

  @Test(
    "an exp that is no time after 1970 is refused",
    arguments: [
      "0", "-1", "0.5", "-1e9", "1e300", "253402300800", "99999999999999999999", "null", "true",
      #""1900000000""#,
      "[1]", "1,\"exp\":2",
    ])
  func noTime(exp: String) {
    #expect(throws: VaultError.self) { try expiry(token(#"{"exp":\#(exp)}"#)) }
  }

  @Test(
    "what is no JWT is refused",
    arguments: [
      "", ".", "..", "...", "r:cbca71d29d7601761b48ed01bbe9638d", "a.b.c", "eyJ9.eyJ9.x", "e30.e30",
      "e30.e30.e30.e30",
      "e30.e30.e30.e30.e30", "e30=.e30.e30", "e30.e30.e3+0", "e30.e30.\n", " e30.e30.e30", "e31.e30.e30",
      "e30.W10.e30",
      "W10.e30.e30", "e30.e30.e", "e30.MQ.e30",
    ])
  func noJWT(text: String) {
    #expect(throws: VaultError.self) { try expiry(text) }
  }

  @Test("the error holds nothing of the token")
  func error() {
    #expect {
      try expiry("m4rk3r.m4rk3r.m4rk3r")
    } throws: {
      !"\($0)".contains("m4rk3r")
    }
  }
}
