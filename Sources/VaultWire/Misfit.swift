// What `Document` says where a frame is JSON and still not what it should be. Each reader turns it into its
// own failure: in a request it is answered, in a reply it means that the other end is not our daemon.

import VaultModel

/// Why a document is not what it should be.
enum Misfit: Error {
  /// An error of `org.varlink.service`.
  case service(ServiceError)
  /// A value that its member may not have.
  case value(VaultError)

  /// A member that is unknown, given twice, missing or of another type.
  static func parameter(_ name: String) -> Misfit { .service(.invalidParameter(name)) }

  /// The same for a member of ours.
  static func field(_ field: Field) -> Misfit { .parameter(field.name) }

  /// In a request.
  func refusal(oneway: Bool) -> Refusal {
    switch self {
    case .service(let error): .service(error, oneway: oneway)
    case .value(let error): .vault(error, oneway: oneway)
    }
  }
}
