// HMAC-SHA256 (RFC 2104) under one key: names records so that the file shows no names, and authenticates the
// set of them. The key's state lies in secret memory; what it gives is a plain value.

import COpenSSL
import SecretMemory
import Synchronization

/// A key of HMAC-SHA256. Any thread may use it; two at once take turns.
public struct AuthenticationKey: ~Copyable, Sendable {
  private let message: Mutex<Message>

  /// The key that these bytes are; 32 is the size to use. The caller's copy stays the caller's.
  public init(_ key: borrowing SecretBytes) throws(CryptoError) {
    message = Mutex(try Message(key))
  }

  /// The code of one message.
  public func code(of bytes: Span<UInt8>) throws(CryptoError) -> Digest {
    try code { message in message.add(bytes) }
  }

  /// The code of the message that `body` puts together.
  public func code(_ body: (inout Message) -> Void) throws(CryptoError) -> Digest {
    try message.withLock { message throws(CryptoError) in
      message.begin()
      body(&message)
      return try message.end()
    }
  }

  /// A message on its way through HMAC.
  @safe public struct Message: ~Copyable {
    private let context: OpaquePointer
    private var failed: Bool

    fileprivate init(_ key: borrowing SecretBytes) throws(CryptoError) {
      let hmac = unsafe LibCrypto.hmac.handle
      guard let hmac = unsafe hmac, let context = unsafe EVP_MAC_CTX_new(hmac) else {
        throw .ofLibrary("EVP_MAC_fetch")
      }
      let set = key.withBytes { key in
        unsafe key.withUnsafeBufferPointer { unsafe copenssl_hmac_key(context, $0.baseAddress, $0.count) }
      }
      guard set == 1 else {
        unsafe EVP_MAC_CTX_free(context)
        throw .ofLibrary("EVP_MAC_init")
      }
      unsafe self.context = unsafe context
      failed = false
    }

    deinit {
      // Wipes the key and the state.
      unsafe EVP_MAC_CTX_free(context)
    }

    fileprivate mutating func begin() {
      failed = unsafe EVP_MAC_init(context, nil, 0, nil) != 1
    }

    fileprivate mutating func end() throws(CryptoError) -> Digest {
      var size = 0
      let digest = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Digest.size) { out in
        guard !failed, unsafe EVP_MAC_final(context, out.baseAddress, &size, out.count) == 1 else {
          return Digest?.none
        }
        return unsafe Digest(Span(_unsafeElements: UnsafeBufferPointer(out).extracting(0..<size)))
      }
      guard let digest else { throw .ofLibrary("EVP_MAC_final") }
      return digest
    }

    /// Adds bytes.
    public mutating func add(_ bytes: Span<UInt8>) {
      guard !bytes.isEmpty else { return }
      let done = unsafe bytes.withUnsafeBufferPointer {
        unsafe EVP_MAC_update(context, $0.baseAddress, $0.count)
      }
      if done != 1 { failed = true }
    }

    /// Adds the UTF-8 of `text` behind its length as 8 bytes, largest first: no two lists of texts make the same
    /// message.
    public mutating func add(text: String) {
      var text = text
      add(UInt64(text.utf8.count))
      text.withUTF8 { bytes in add(unsafe Span(_unsafeElements: bytes)) }
    }

    /// Adds a number as 8 bytes, largest first.
    public mutating func add(_ number: UInt64) {
      unsafe withUnsafeBytes(of: number.bigEndian) { add(unsafe Span(_unsafeBytes: $0)) }
    }
  }
}
