// A vault in memory for tests of what stands on the client: get, set, clear and list by the rules that such code
// relies on. Locks, stores, expiry and leases are the real daemon's, end to end.

import SecretMemory
import Synchronization
import VaultModel
import VaultWire

/// Entries and their secrets, and the answers to calls about them.
public final class MemoryVault: Sendable {
  private let tokens = Mutex<[EntryID: Token]>([:])
  private let error = Mutex<VaultError?>(nil)

  /// An empty one.
  public init() {}

  /// What every call is answered with while it is there.
  public func fail(with error: VaultError?) {
    self.error.withLock { $0 = error }
  }

  /// The keys that are stored, of any account.
  public var keys: Set<String> {
    Set(tokens.withLock { tokens in tokens.keys.map(\.key.text) })
  }

  /// The answer to a call.
  public func answer(_ call: Call) -> ScriptedDaemon.Answer {
    if let error = error.withLock({ $0 }) { return .error(error) }
    return tokens.withLock { tokens in
      switch call {
      case .get(let request):
        guard let token = tokens[request.id] else { return .error(.notFound(request.id)) }
        return .reply(.token(token))
      case .set(let request):
        let time = WallTime(seconds: 1)
        let entry = Entry(
          id: request.id, version: Version(tokens.count + 1), created: time, modified: time,
          label: request.label,
          size: request.secret.count, store: .file)
        tokens[request.id] = Token(entry: entry, secret: request.secret)
        return .reply(.entry(entry))
      case .clear(let id, _):
        let removed = tokens.removeValue(forKey: id)
        return .reply(.clearance(Clearance(cleared: removed == nil ? 0 : 1, pending: false)))
      case .list(let namespace):
        let all = tokens.values.map(\.entry).sorted { $0.id < $1.id }
        return .reply(.entries(all.filter { namespace == nil || $0.id.key.namespace == namespace }))
      default:
        return .error(.internal(reason: "no such call in a test"))
      }
    }
  }
}
