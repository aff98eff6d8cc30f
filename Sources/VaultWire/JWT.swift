// When a JSON Web Token is over, as it says itself (RFC 7519, section 4.1.4): for clients, which may ask the
// vault to forget a token at that time. Nothing is verified: whoever stores a token has decided to trust it.
// What is decoded of it stays in locked memory.

import SecretMemory
import VaultModel

/// JSON Web Tokens in their compact form, signed or not: three parts with dots between them (RFC 7515,
/// section 3.1). An encrypted one, of five parts, tells nobody when it is over.
public enum JWT {
  /// The claim `exp`.
  /// - Parameters:
  ///   - token: the bytes of the token and nothing else.
  ///   - argument: what the token is called in the error.
  /// - Returns: seconds since 1970, rounded down; `nil` where the token has no such claim.
  /// - Throws: `.invalidArgument` for what is no JWT, or has an `exp` that is no time.
  public static func expiry(of token: SharedSecret, argument: String) throws(VaultError) -> Int64? {
    do throws(Problem) {
      return try token.withBytes { bytes throws(Problem) in try expiry(in: bytes) }
    } catch {
      switch error {
      case .noJWT:
        throw .invalidArgument(argument: argument, reason: "the secret is no JWT; nothing was stored")
      case .noTime:
        throw .invalidArgument(
          argument: argument, reason: "the claim exp of the JWT is no time; nothing was stored")
      case .memory(let error): throw VaultError(error)
      }
    }
  }

  private enum Problem: Error {
    case noJWT, noTime
    case memory(SecretMemoryError)
  }

  private static func expiry(in token: Span<UInt8>) throws(Problem) -> Int64? {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2 else { throw .noJWT }
    var tape = Tape()
    // The header must be an object too, or this is something else with two dots in it.
    _ = try read(token.extracting(..<dots[0]), &tape) { _ in Result<Int64?, Problem>.success(nil) }
    _ = try decode(token.extracting((dots[1] + 1)...))
    return try read(token.extracting((dots[0] + 1)..<dots[1]), &tape) { claims in
      do throws(Misfit) {
        let fields = try claims.fields(of: claims.root, [.exp], others: .ignored)
        guard let exp = try claims.numberToken(.exp, fields) else { return .success(nil) }
        guard let seconds = claims.withBytes(at: exp, wholeSeconds) else { return .failure(.noTime) }
        return .success(seconds)
      } catch {
        return .failure(.noTime)
      }
    }
  }

  /// Reads a part that is a JSON object in Base64url.
  private static func read(
    _ part: Span<UInt8>, _ tape: inout Tape, _ body: (borrowing Document) -> Result<Int64?, Problem>
  ) throws(Problem) -> Int64? {
    var json = try decode(part)
    let result: Result<Int64?, Problem>
    do {
      result = try json.withMutableBytes { bytes throws(Tape.Failure) in
        try tape.read(&bytes, tokenLimit: Limits.replyTokens, body)
      }
    } catch {
      switch error {
      case .malformed: throw .noJWT
      case .noMemory: throw .memory(.exhausted(bytes: part.count))
      }
    }
    return try result.get()
  }

  /// Decodes Base64url without padding (RFC 7515, section 2), by way of the standard alphabet.
  private static func decode(_ part: Span<UInt8>) throws(Problem) -> SecretBytes {
    do throws(SecretMemoryError) {
      var standard = try SecretBuffer(capacity: part.count + 4, limit: part.count + 4)
      for index in part.indices {
        switch part[index] {
        case UInt8(ascii: "-"): try standard.append(UInt8(ascii: "+"))
        case UInt8(ascii: "_"): try standard.append(UInt8(ascii: "/"))
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): throw SecretMemoryError.notBase64
        case let byte: try standard.append(byte)
        }
      }
      while standard.count % 4 != 0 { try standard.append(UInt8(ascii: "=")) }
      return try standard.withBytes { bytes throws(SecretMemoryError) in try Base64.decode(bytes) }
    } catch {
      throw error == .notBase64 ? .noJWT : .memory(error)
    }
  }

  /// The whole seconds of a NumericDate, by the grammar of JSON numbers: digits, and perhaps a fraction and an
  /// exponent. `nil` for what is not after 1970, or after the year 9999.
  private static func wholeSeconds(_ number: Span<UInt8>) -> Int64? {
    var seconds: Int64 = 0
    var place = 0
    while place < number.count, (0x30...0x39).contains(number[place]) {
      seconds = seconds * 10 + Int64(number[place] - 0x30)
      guard seconds <= Limits.latestTime else { return nil }
      place += 1
    }
    var rest = place
    while rest < number.count, number[rest] | 0x20 != UInt8(ascii: "e") { rest += 1 }
    if rest < number.count {
      // Nobody writes times so; a double is exact enough for those who do.
      let text = unsafe number.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
      guard let value = Double(text), value < Double(Limits.latestTime + 1) else { return nil }
      seconds = value >= 1 ? Int64(value) : 0
    }
    return seconds > 0 ? seconds : nil
  }
}
