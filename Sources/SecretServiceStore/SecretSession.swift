// The session in which secrets go over the bus, encrypted with a key that only the provider and this process
// know: libsecret makes it and does the encoding, in memory of its own that is locked and wiped. One for the
// life of a provider. Plain secrets leave here as `SecretBytes` and never as anything else.

import CSecret
import GLibLoop
import SecretMemory
import VaultModel

/// A session with one provider, as libsecret keeps it.
@GLibActor
@safe final class SecretSession {
  private let service: UnsafeMutablePointer<SecretService>

  /// The session's object on the bus.
  let path: String
  /// Whether secrets are encrypted on the bus.
  let isEncrypted: Bool

  /// Opens a session with whoever has the unique name `owner`. Takes as long as the provider does. Where the
  /// provider offers no encryption, libsecret opens a plain session: look at `isEncrypted` before use.
  static func open(_ owner: String) async throws(GLibError) -> SecretSession {
    let opened: Result<Service, GLibError> = await withPromise { continuation in
      let box = unsafe Unmanaged.passRetained(Opening(continuation)).toOpaque()
      unsafe secret_service_open(
        csecret_service_type(), owner, SECRET_SERVICE_NONE, nil,
        { _, result, data in
          guard let data = unsafe data else { return }
          let opening = unsafe Unmanaged<Opening>.fromOpaque(data).takeRetainedValue()
          var error: UnsafeMutablePointer<GError>?
          if let service = unsafe secret_service_open_finish(result, &error) {
            opening.continuation.resume(returning: .success(unsafe Service(pointer: service)))
          } else {
            opening.continuation.resume(returning: .failure(unsafe GLibError(optional: error)))
          }
        }, box)
    }
    let service = try opened.get()
    // Like every call of ours, OpenSession stays under way until it is answered: a second one beside it has
    // killed providers.
    unsafe csecret_limit_calls(service.pointer, Int32.max)

    let ensured: Result<Service, GLibError> = await withPromise { continuation in
      let box = unsafe Unmanaged.passRetained(Opening(continuation)).toOpaque()
      unsafe secret_service_ensure_session(
        service.pointer, nil,
        { source, result, data in
          guard let data = unsafe data, let source = unsafe source else { return }
          let opening = unsafe Unmanaged<Opening>.fromOpaque(data).takeRetainedValue()
          let pointer = unsafe UnsafeMutableRawPointer(source).assumingMemoryBound(to: SecretService.self)
          var error: UnsafeMutablePointer<GError>?
          if unsafe secret_service_ensure_session_finish(pointer, result, &error) != 0 {
            opening.continuation.resume(returning: .success(unsafe Service(pointer: pointer)))
          } else {
            opening.continuation.resume(returning: .failure(unsafe GLibError(optional: error)))
          }
        }, box)
    }
    do {
      _ = try ensured.get()
    } catch {
      unsafe csecret_unref(service.pointer)
      throw error
    }
    return unsafe SecretSession(consuming: service.pointer)
  }

  private init(consuming service: UnsafeMutablePointer<SecretService>) {
    unsafe self.service = unsafe service
    path = unsafe secret_service_get_session_dbus_path(service).map { unsafe String(cString: $0) } ?? "/"
    let algorithm = unsafe secret_service_get_session_algorithms(service).map { unsafe String(cString: $0) }
    isEncrypted = algorithm != nil && algorithm != "plain"
  }

  isolated deinit {
    unsafe csecret_unref(service)
  }

  /// The secret as it goes over the bus, `(oayays)`.
  func encode(_ secret: Span<UInt8>, contentType: String) throws(Trouble) -> Variant {
    let encoded: Variant? = unsafe secret.withUnsafeBytes { bytes in
      // libsecret copies the bytes into its own locked memory and wipes that when the value is released.
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let value = unsafe secret_value_new(start, gssize(bytes.count), contentType)
      defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
      guard let value = unsafe value, let encoded = unsafe secret_service_encode_dbus_secret(service, value)
      else {
        return nil
      }
      return unsafe Variant(consuming: encoded)
    }
    guard let encoded else {
      throw .own(.unavailable(store: .secretService, reason: "libsecret could not encode a secret"))
    }
    return encoded
  }

  /// The secret out of what came over the bus, `(oayays)`.
  func decode(_ encoded: Variant) throws(Trouble) -> SecretBytes {
    guard encoded.type == "(oayays)",
      let value = unsafe secret_service_decode_dbus_secret(service, encoded.pointer)
    else { throw .senseless("a secret that cannot be decoded") }
    defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
    var count: gsize = 0
    let start = unsafe secret_value_get(value, &count)
    guard count <= gsize(Limits.encodedSecretBytes) else { throw .tooLarge(Int(clamping: count)) }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
    do {
      return try SecretBytes(copying: unsafe Span(_unsafeBytes: bytes))
    } catch {
      throw .own(VaultError(error))
    }
  }

  private final class Opening: Sendable {
    let continuation: Promise<Result<Service, GLibError>>
    init(_ continuation: Promise<Result<Service, GLibError>>) {
      self.continuation = continuation
    }
  }

  /// A SecretService on its way from the callback to the actor; both are on the same thread.
  @safe private struct Service: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<SecretService>
  }
}
