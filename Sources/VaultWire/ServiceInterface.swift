// The interface that every Varlink service has: it tells who is there and describes the others. Its text here
// is the one that varlink.org defines, with comments of our own.

import VaultModel

/// The interface `org.varlink.service`.
public enum ServiceInterface {
  /// Its name.
  public static let name = "org.varlink.service"

  /// Its text, in the language of Varlink.
  public static let description = """
    # What every Varlink service can be asked about itself.
    interface org.varlink.service

    # Who made the service, which version it is, and which interfaces it has.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The text of one of its interfaces.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The service has no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, the service does not carry it out.
    error MethodNotImplemented (method: string)

    # A parameter is unknown, given twice, missing or of another type.
    error InvalidParameter (parameter: string)

    # The caller may not do this.
    error PermissionDenied ()

    # The method gives several replies, and the call does not say that they are welcome.
    error ExpectedMore ()

    """
}

extension ServiceInfo {
  /// What the daemon tells of itself.
  public static let vaultd = ServiceInfo(
    vendor: "vaultd", product: "vaultd", version: productVersion, url: "https://vaultd.org",
    interfaces: [ServiceInterface.name, VaultInterface.name])
}

extension Reply {
  /// The reply to `GetInterfaceDescription`.
  /// - Throws: `.interfaceNotFound` for an interface that is not served here.
  public static func description(of interface: String) throws(ServiceError) -> Reply {
    switch interface {
    case ServiceInterface.name: .interfaceDescription(ServiceInterface.description)
    case VaultInterface.name: .interfaceDescription(VaultInterface.description)
    default: throw .interfaceNotFound(interface)
    }
  }
}
