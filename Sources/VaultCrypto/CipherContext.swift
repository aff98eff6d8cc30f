// An EVP_CIPHER_CTX that holds one expanded key of AES-256-GCM for its whole life, for one direction. Under
// `SealingKey`, which lets one thread at a time at it. Makes no decision: what it is told to seal it seals.

import COpenSSL
import SecretMemory

/// The owner of one context. Not for two threads at once.
@safe struct CipherContext: ~Copyable {
  enum Direction: Sendable { case seal, open }

  private let context: OpaquePointer

  /// Expands `key`, which must have 32 bytes.
  init(_ direction: Direction, key: Span<UInt8>) throws(CryptoError) {
    guard key.count == SealingKey.size else { throw .parameter("an AES-256 key has 32 bytes") }
    let cipher = unsafe LibCrypto.aes256GCM.handle
    guard let cipher = unsafe cipher, let context = unsafe EVP_CIPHER_CTX_new() else {
      throw .ofLibrary("EVP_CIPHER_fetch")
    }
    let encrypts: Int32 = direction == .seal ? 1 : 0
    let set = unsafe key.withUnsafeBufferPointer { key in
      unsafe EVP_CipherInit_ex2(context, cipher, key.baseAddress, nil, encrypts, nil)
    }
    guard set == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw .ofLibrary("EVP_CipherInit_ex2")
    }
    unsafe self.context = unsafe context
  }

  deinit {
    // Wipes the expanded key.
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Begins a message: its nonce, and what it is bound to.
  @unsafe private func begin(_ nonce: UnsafePointer<UInt8>, _ associated: Span<UInt8>) -> Bool {
    guard unsafe EVP_CipherInit_ex2(context, nil, nil, nonce, -1, nil) == 1 else { return false }
    var done: Int32 = 0
    guard !associated.isEmpty else { return true }
    return unsafe associated.withUnsafeBufferPointer { bytes in
      unsafe EVP_CipherUpdate(context, nil, &done, bytes.baseAddress, Int32(bytes.count)) == 1
    }
  }

  /// Turns `input` into as many bytes at `output`.
  @unsafe private func turn(_ input: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>) -> Bool {
    var done: Int32 = 0
    guard !input.isEmpty else { return true }
    return unsafe input.withUnsafeBufferPointer { bytes in
      unsafe EVP_CipherUpdate(context, output, &done, bytes.baseAddress, Int32(bytes.count)) == 1
    }
  }

  /// Writes nonce, ciphertext and tag to `sealed`, which has room for `plain.count + SealingKey.overhead`.
  @unsafe func seal(
    _ plain: Span<UInt8>, associated: Span<UInt8>, nonce: Nonce, to sealed: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    unsafe nonce.write(to: UnsafeMutableRawPointer(sealed))
    guard unsafe begin(sealed, associated) else { return false }
    let cipher = unsafe sealed + Nonce.size
    let tag = unsafe cipher + plain.count
    guard unsafe turn(plain, into: cipher) else { return false }
    // GCM has nothing left to write here: it only ends the tag.
    var done: Int32 = 0
    return unsafe EVP_CipherFinal_ex(context, tag, &done) == 1 && copenssl_get_tag(context, tag) == 1
  }

  /// How opening ended.
  enum Opening { case opened, refused, failed }

  /// Writes the plain bytes to `plain`, which has room for `sealed.count - SealingKey.overhead`. What is there
  /// counts only when this returns `.opened`.
  @unsafe func open(
    _ sealed: Span<UInt8>, associated: Span<UInt8>, to plain: UnsafeMutablePointer<UInt8>
  ) -> Opening {
    let count = sealed.count - SealingKey.overhead
    let cipher = sealed.extracting(Nonce.size..<Nonce.size + count)
    return unsafe sealed.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return .failed }
      guard unsafe begin(start, associated), unsafe turn(cipher, into: plain),
        unsafe copenssl_expect_tag(context, start + Nonce.size + count) == 1
      else { return .failed }
      var done: Int32 = 0
      var nothing: UInt8 = 0
      return unsafe EVP_CipherFinal_ex(context, &nothing, &done) == 1 ? .opened : .refused
    }
  }
}
