// From a call to what the vault does about it: one case a method, and nothing else. Stands between the connection,
// which knows frames, and the vault, which decides. What can be answered from memory or from the file is answered
// at once; the rest becomes a task, and a watch goes on until its connection ends.

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
  /// It has to wait, for a store or for another client.
  case waits(@VaultActor () async throws(VaultError) -> Reply)
  /// One answer now, and one for each event.
  case watches(Watching)
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

  /// The caller's connection ended: so does what it has of the vault.
  func left(_ caller: CallerID) {
    vault.left(caller)
  }

  /// The token under these names, which are any bytes, where it is at hand; `nil`: begin the request.
  func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)? {
    vault.sealedToken(key, account)
  }

  /// Carries out what `caller` asks, or says how.
  func begin(_ request: Request, caller: CallerID) -> Course {
    if case .get(let get) = request.call, let token = vault.sealedToken(get.id) {
      return .answered(.reply(.sealedToken(token)))
    }
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
      return .waits { () throws(VaultError) in .entry(try await vault.set(set, caller: caller)) }
    case .clear(let id, let version):
      return .waits { () throws(VaultError) in
        .clearance(try await vault.clear(id, ifVersion: version, caller: caller))
      }
    case .clearNamespace(let namespace, let account):
      return .waits { () throws(VaultError) in
        .namespaceClearance(try await vault.clearNamespace(namespace, account: account))
      }
    case .list(let namespace):
      return .waits { () throws(VaultError) in .entries(try await vault.list(namespace)) }
    case .touch(let id):
      return .waits { () throws(VaultError) in .entry(try await vault.touch(id)) }
    case .watch(let namespace, let key):
      guard request.more else { return .answered(.refused(.expectedMore)) }
      do throws(VaultError) {
        return .watches(vault.watch(try Self.filter(namespace, key)))
      } catch {
        return .answered(.failed(error))
      }
    case .refresh(let id, let minValidity, let wait):
      let request = RefreshRequest(id: id, minValidity: minValidity, wait: wait)
      return .waits { () throws(VaultError) in
        switch try await vault.refresh(request, caller: caller) {
        case .token(let token): .refreshed(lease: nil, token: token, entry: nil)
        case .lease(let name, let entry): .refreshed(lease: name, token: nil, entry: entry)
        }
      }
    case .giveUp(let lease):
      vault.giveUp(lease)
      return .answered(.reply(.empty))
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

  private static func filter(_ namespace: Namespace?, _ key: Key?) throws(VaultError) -> WatchFilter {
    guard let key else { return namespace.map { .namespace($0) } ?? .everything }
    if let namespace, key.namespace != namespace {
      throw .invalidArgument(argument: "key", reason: "is not in the namespace that is named beside it")
    }
    return .key(key)
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
