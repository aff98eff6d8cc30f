// What can go wrong between us and whoever provides the Secret Service: GLib's errors sorted into kinds that
// can be acted on, and, at the end of a request, turned into its outcome. The one place for both. The texts
// keep GLib's domain and code, and never tell anybody to log in again.

import GLibLoop
import VaultModel

/// Why something was not done.
enum Trouble: Error, Hashable {
  /// There is no session bus to speak to.
  case noBus(GLibError)
  /// Nobody on the bus provides the Secret Service, and nobody can be started.
  case noProvider(GLibError)
  /// The provider, or the bus, went away.
  case gone(GLibError)
  /// It did not answer in time.
  case noAnswer
  /// The provider does not know our session.
  case noSession(GLibError)
  /// The object is not there, or not any more.
  case noSuchObject(GLibError)
  /// The provider says that it is locked.
  case isLocked(GLibError?)
  /// It is locked, and may only be unlocked by a prompt, which was not wanted.
  case promptNotWanted
  /// Somebody refused the prompt.
  case dismissed
  /// The prompt is on the screen and was not answered in time.
  case promptNotAnswered
  /// No collection is the default one.
  case noDefaultCollection
  /// The provider offers no encrypted session, and an unencrypted one is not allowed.
  case onlyPlain
  /// The bus or the provider does not let us.
  case denied(GLibError)
  /// Any other error that the provider answered with.
  case refused(GLibError)
  /// An answer that does not fit the specification.
  case senseless(String)
  /// The provider would ask somebody before it removes the item.
  case removalNeedsPrompt
  /// The provider says that it removed the item, and still has it.
  case notRemoved
  /// What was read back is not what was stored.
  case notKept
  /// The provider died and the one that answers now has nothing under the key.
  case lostWithProvider
  /// There is a secret, larger than any of ours.
  case tooLarge(Int)
  /// Something of our own: secret memory is used up.
  case own(VaultError)

  /// Sorts an error that came from a call to a provider by its unique name.
  init(_ error: GLibError) {
    let remote = error.remoteName ?? ""
    switch remote {
    case "org.freedesktop.Secret.Error.IsLocked": self = .isLocked(error)
    case "org.freedesktop.Secret.Error.NoSession": self = .noSession(error)
    case "org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownObject",
      "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface":
      self = .noSuchObject(error)
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
      self = .gone(error)
    case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut": self = .noAnswer
    case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed":
      self = .denied(error)
    case "" where error == .timedOut: self = .noAnswer
    case "" where error.isConnectionLost: self = .gone(error)
    default: self = .refused(error)
    }
  }
}

extension Trouble {
  /// How to get somebody to provide the Secret Service.
  static let providers =
    "install gnome-keyring or keepassxc, or turn the Secret Service on in KWallet (package kwalletmanager)"

  /// The outcome of a request that ended with this.
  var outcome: VaultError {
    switch self {
    case .noBus(let error): unavailable("there is no session bus: \(error)")
    case .noProvider(let error):
      unavailable("nobody provides org.freedesktop.secrets on the session bus: \(Self.providers): \(error)")
    case .gone(let error): unavailable("the Secret Service went away while it was asked; try again: \(error)")
    case .noAnswer: unavailable("the Secret Service did not answer in time; try again")
    case .noSession(let error): unavailable("the Secret Service does not keep our session: \(error)")
    case .noSuchObject(let error): unavailable("the Secret Service lost an item while it was read: \(error)")
    case .isLocked: locked("the keyring is locked; unlock it and try again")
    case .promptNotWanted: locked("the keyring is locked and nobody was to be asked; unlock it and try again")
    case .dismissed: locked("the keyring is locked: the prompt was dismissed; unlock it and try again")
    case .promptNotAnswered:
      locked("the keyring is locked: the prompt was not answered in time; answer it or unlock the keyring")
    case .noDefaultCollection:
      unavailable(
        "the Secret Service has no default collection; make one in the keyring's program (as Seahorse) and try again"
      )
    case .onlyPlain:
      unavailable(
        "the Secret Service offers no encrypted session; `vaultd --plain-session`, or plain-session=true in "
          + "vaultd.conf, allows one without encryption")
    case .denied(let error):
      unavailable("the session bus does not let vaultd use the Secret Service: \(error)")
    case .refused(let error): unavailable("the Secret Service refused: \(error)")
    case .senseless(let what): unavailable("the Secret Service answered against its specification: \(what)")
    case .removalNeedsPrompt:
      unavailable(
        "the Secret Service asks somebody before it removes an item; remove it in the keyring's program")
    case .notRemoved: unavailable("the Secret Service says that it removed the item, and still has it")
    case .notKept: unavailable("the Secret Service does not give back what was stored in it")
    case .lostWithProvider:
      unavailable(
        "the Secret Service died while it was asked, and what answers now has nothing there; try again")
    case .tooLarge(let size): .tooLarge(size: size, limit: Limits.secretBytes)
    case .own(let error): error
    }
  }

  private func unavailable(_ reason: String) -> VaultError {
    .unavailable(store: .secretService, reason: reason)
  }

  private func locked(_ reason: String) -> VaultError {
    .locked(store: .secretService, reason: reason)
  }
}
