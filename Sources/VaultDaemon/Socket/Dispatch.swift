// From a call to what the vault does about it: one case a method, and nothing else. Stands between the connection,
// which knows frames, and the vault, which decides. What can be answered from memory or from the file is answered
// at once; only the rest becomes a task.

import VaultCore
import VaultModel
import VaultWire

/// What is written back.
enum Answer: Sendable {
  /// Success.
  case reply(Reply)
  /// An outcome of the vault.
  case failed(VaultError)
  /// An error of `org.varlink.service`.
  case refused(ServiceError)
}

/// What became of a call.
enum Course {
  /// It was carried out, or failed.
  case answered(Answer)
  /// It has to wait for a store.
  case waits(@VaultActor () async throws(VaultError) -> Reply)
}

/// Hands calls to the vault.
@VaultActor
final class Dispatch {
  private let vault: Vault
  private let status: @VaultActor () -> DaemonStatus

  /// Calls go to `vault`; `status` tells of the daemon around it.
  init(vault: Vault, status: @escaping @VaultActor () -> DaemonStatus) {
    self.vault = vault
    self.status = status
  }

  /// Carries a call out, or says how.
  func begin(_ request: Request) -> Course {
    let vault = vault
    switch request.call {
    case .getInfo:
      return .answered(.reply(.info(Self.information)))
    case .getInterfaceDescription(let interface):
      return .answered(Self.description(of: interface))
    case .get(let get):
      switch vault.getAtOnce(get) {
      case .success(let token): return .answered(.reply(.token(token)))
      case .failure(let error): return .answered(.failed(error))
      case nil: return .waits { () throws(VaultError) in .token(try await vault.get(get)) }
      }
    case .set(let set):
      return .waits { () throws(VaultError) in .entry(try await vault.set(set)) }
    case .clear(let id, let version):
      return .waits { () throws(VaultError) in .clearance(try await vault.clear(id, ifVersion: version)) }
    case .clearNamespace(let namespace, let account):
      return .waits { () throws(VaultError) in
        .namespaceClearance(try await vault.clearNamespace(namespace, account: account))
      }
    case .list(let namespace):
      return .waits { () throws(VaultError) in .entries(try await vault.list(namespace)) }
    case .touch:
      return .notImplemented("Touch")
    case .watch:
      return request.more ? .notImplemented("Watch") : .answered(.refused(.expectedMore))
    case .refresh:
      return .notImplemented("Refresh")
    case .giveUp:
      return .notImplemented("GiveUp")
    case .initialise(let key):
      return .waits { () throws(VaultError) in
        try await vault.initialise(key)
        return .empty
      }
    case .lock:
      vault.lock()
      return .answered(.reply(.empty))
    case .unlock(let key):
      return .waits { () throws(VaultError) in
        try await vault.unlock(key)
        return .empty
      }
    case .slots:
      do throws(VaultError) {
        return .answered(.reply(.slots(try vault.slots())))
      } catch {
        return .answered(.failed(error))
      }
    case .addSlot(let key):
      return .waits { () throws(VaultError) in .slot(try await vault.addSlot(key)) }
    case .removeSlot(let number):
      return .waits { () throws(VaultError) in
        try await vault.removeSlot(number)
        return .empty
      }
    case .verify:
      return .waits { () throws(VaultError) in .verification(try await vault.verify()) }
    case .status:
      return .answered(.reply(.status(status())))
    }
  }

  private static let information = ServiceInfo(
    vendor: "The vaultd founders", product: "vaultd", version: productVersion, url: "https://vaultd.org",
    interfaces: [ServiceInterface.name, VaultInterface.name])

  private static func description(of interface: String) -> Answer {
    switch interface {
    case VaultInterface.name: .reply(.interfaceDescription(VaultInterface.description))
    case ServiceInterface.name: .reply(.interfaceDescription(ServiceInterface.description))
    default: .refused(.interfaceNotFound(interface))
    }
  }
}

extension Course {
  /// A method that is in the interface and comes with a later version.
  fileprivate static func notImplemented(_ method: String) -> Course {
    .answered(.refused(.methodNotImplemented("\(VaultInterface.name).\(method)")))
  }
}
