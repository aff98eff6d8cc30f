// AES-256 in counter mode (NIST SP 800-38A, section 6.5), on OpenSSL's block cipher. OpenSSL has the mode too; what it
// does each time a message begins takes four times as long as a token's three blocks. Under `Shield`, which lets
// one thread at a time at it and never uses a counter twice. Says nothing of whether a message is what it was.

import COpenSSL
import SecretMemory

/// The owner of one expanded key. Not for two threads at once.
@safe struct CounterMode: ~Copyable {
  /// The size of a block in bytes.
  static let block = 16

  private let context: OpaquePointer

  /// Expands `key`, which must have 32 bytes.
  init(key: Span<UInt8>) throws(CryptoError) {
    guard key.count == SealingKey.size else { throw .parameter("an AES-256 key has 32 bytes") }
    let cipher = unsafe LibCrypto.aes256ECB.handle
    guard let cipher = unsafe cipher, let context = unsafe EVP_CIPHER_CTX_new() else {
      throw .ofLibrary("EVP_CIPHER_fetch")
    }
    let set = unsafe key.withUnsafeBufferPointer { key in
      unsafe EVP_EncryptInit_ex2(context, cipher, key.baseAddress, nil, nil)
    }
    guard set == 1, unsafe EVP_CIPHER_CTX_set_padding(context, 0) == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw .ofLibrary("EVP_EncryptInit_ex2")
    }
    unsafe self.context = unsafe context
  }

  deinit {
    // Wipes the expanded key.
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// Turns plain bytes into secret ones, or back.
  /// - Parameters:
  ///   - input: the bytes.
  ///   - output: as many, which they become.
  ///   - counter: the first counter block: its upper and its lower half. Each further block's is one larger; the lower half
  ///     must have room for that.
  /// - Returns: false where OpenSSL failed.
  func turn(
    _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, counter: (high: UInt64, low: UInt64)
  ) -> Bool {
    guard input.count == output.count else { return false }
    // Eight blocks: a token of the usual kind has three.
    var stream = InlineArray<128, UInt8>(repeating: 0)
    defer { wipe(&stream, min(128, input.count + Self.block - 1)) }
    var place = 0
    var low = counter.low
    while place < input.count {
      let count = min(input.count - place, 128)
      let blocks = (count + Self.block - 1) / Self.block
      for block in 0..<blocks {
        var bytes = stream.mutableSpan
        bytes.write(counter.high, at: Self.block * block)
        bytes.write(low, at: Self.block * block + 8)
        low += 1
      }
      guard encrypt(&stream, blocks) else { return false }
      let mask = stream.span
      var index = 0
      while index + 8 <= count {
        // Bytes are written from the largest to the smallest.
        output.write((input.word(at: place + index) ^ mask.word(at: index)).bigEndian, at: place + index)
        index += 8
      }
      while index < count {
        output[place + index] = input[place + index] ^ mask[index]
        index += 1
      }
      place += count
    }
    return true
  }

  private func encrypt(_ stream: inout InlineArray<128, UInt8>, _ blocks: Int) -> Bool {
    var bytes = stream.mutableSpan
    var done: Int32 = 0
    return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      let start = bytes.baseAddress
      // In place, as EVP_EncryptUpdate(3) allows.
      return unsafe EVP_EncryptUpdate(context, start, &done, start, Int32(Self.block * blocks)) == 1
    }
  }

  /// Wipes the first bytes of it: all that were used.
  private func wipe(_ stream: inout InlineArray<128, UInt8>, _ count: Int) {
    var bytes = stream.mutableSpan
    unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, min(count, $0.count)) }
  }
}
