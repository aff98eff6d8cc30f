// The errors of org.varlink.service: a call that names no method of ours, or does not fit the method it
// names. What went wrong with a call that does fit is a `VaultError`. Carries names only, never a value of a
// request.

/// What is answered with an error of `org.varlink.service`.
public enum ServiceError: Error, Hashable, Sendable {
  /// No interface of this name is served here.
  case interfaceNotFound(String)
  /// The interface has no such method; the argument is the method's whole name.
  case methodNotFound(String)
  /// The method is in the interface and does not work yet; the argument is its whole name.
  case methodNotImplemented(String)
  /// A member is unknown, given twice, missing or of another type.
  case invalidParameter(String)
  /// This caller may not.
  case permissionDenied
  /// The method has several replies, and the call does not say `more`.
  case expectedMore
}
