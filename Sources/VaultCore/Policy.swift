// What may be asked for at all. Members of the interface that this version does not carry out are refused,
// never accepted and ignored.

import VaultModel

extension Vault {
  func requireSupported(_ request: GetRequest) throws(VaultError) {
    if request.minValidity != nil { throw notSupported("minValidity") }
  }

  func requireSupported(_ request: SetRequest) throws(VaultError) {
    if request.expires != nil { throw notSupported("expires") }
    if request.expiresIn != nil { throw notSupported("expiresIn") }
    if request.idle != nil { throw notSupported("idle") }
    if request.untilLogout { throw notSupported("untilLogout") }
    if request.lease != nil { throw notSupported("lease") }
    try requireSupported(ifVersion: request.ifVersion)
  }

  func requireSupported(ifVersion: Version?) throws(VaultError) {
    if ifVersion != nil { throw notSupported("ifVersion") }
  }
}

private func notSupported(_ argument: String) -> VaultError {
  .invalidArgument(argument: argument, reason: "not supported yet")
}
