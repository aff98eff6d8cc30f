// The text of the interface, as `GetInterfaceDescription` hands it out. The file beside this one is where
// it is edited; a test holds the two equal, byte for byte. Programs of ours are single files, so the text is
// in the program and not beside it.

import VaultModel

/// The interface `org.vaultd.Vault`.
public enum VaultInterface {
  /// Its name.
  public static let name = "org.vaultd.Vault"

  /// Its text, in the language of Varlink.
  public static let description = #"""
    # The credentials and session tokens of one user, kept encrypted and served to that user's own programs.
    #
    # Times are whole seconds since 1970-01-01T00:00:00Z, durations whole seconds, sizes bytes.
    # A secret travels in `secret` when it is UTF-8 without NUL, else in `secretBase64` (RFC 4648, padded); never in both.
    # An absent or null member means the same: not given. An absent `account` is the empty account.
    # Unknown or duplicate members, and members of another type, are org.varlink.service.InvalidParameter.
    interface org.vaultd.Vault

    # What is known of a stored secret beside the secret itself.
    type Entry (
      key: string,
      account: string,
      version: int,
      created: int,
      modified: int,
      # absolute expiry, if there is one
      expires: ?int,
      # sliding expiry: this long after the last Get or Touch, if there is one
      idle: ?int,
      untilLogout: bool,
      label: ?string,
      size: int,
      store: (secret_service, file, session),
      # true while it waits to be moved into the Secret Service
      pending: bool
    )

    type StoreStatus (
      store: (secret_service, file, session),
      state: (available, locked, unavailable, absent, damaged),
      # what owns the bus name, or which file; why it is unavailable
      detail: string,
      entries: int,
      pending: int
    )

    # `minValidity`: answer Expired if less than this is left.
    method Get(key: string, account: ?string, minValidity: ?int, interactive: ?bool) -> (
      secret: ?string, secretBase64: ?string, entry: Entry)

    # Exactly one of `secret` and `secretBase64`. At most one of `expires` and `expiresIn`. `ifVersion` 0: only if nothing is stored.
    method Set(key: string, account: ?string, secret: ?string, secretBase64: ?string,
      expires: ?int, expiresIn: ?int, idle: ?int, untilLogout: ?bool, label: ?string,
      ifVersion: ?int, lease: ?string, interactive: ?bool) -> (entry: Entry)

    # Succeeds also when nothing was stored. `pending`: a copy in a store out of reach is removed when that returns.
    method Clear(key: string, account: ?string, ifVersion: ?int) -> (cleared: bool, pending: bool)

    # All keys of exactly this namespace; of every account unless one is named.
    method ClearNamespace(namespace: string, account: ?string) -> (cleared: int, pending: bool)

    method List(namespace: ?string) -> (entries: []Entry)

    # Starts the idle time anew without reading the secret.
    method Touch(key: string, account: ?string) -> (entry: Entry)

    # With `more`: first a reply without an event, when watching has begun, then one per change. `key` or `namespace` narrow it.
    method Watch(namespace: ?string, key: ?string) -> (
      event: ?(set, cleared, expired, lost, locked, unlocked, available, unavailable),
      key: ?string, account: ?string, version: ?int, store: ?(secret_service, file, session))

    # One caller at a time may renew a token. Answers with the secret when at least `minValidity` is left of it, or after
    # another caller has renewed it; else grants a lease and no secret: renew the token and Set it with that lease, or give it
    # up. A lease is granted also where nothing is stored; then there is no entry. A lease ends with the connection it was granted on, with anybody's Set of the key, and after 60 s.
    method Refresh(key: string, account: ?string, minValidity: ?int, wait: ?int) -> (
      lease: ?string, secret: ?string, secretBase64: ?string, entry: ?Entry)

    method GiveUp(lease: string) -> ()

    method Init(passphrase: ?string, keyFile: ?string, credential: ?string) -> ()
    method Lock() -> ()
    method Unlock(passphrase: ?string, keyFile: ?string) -> ()

    type Slot (slot: int, kind: (passphrase, key_file, credential), detail: string, created: int)
    method Slots() -> (slots: []Slot)
    method AddSlot(passphrase: ?string, keyFile: ?string, credential: ?string) -> (slot: Slot)
    method RemoveSlot(slot: int) -> ()

    # Authenticates every record of the vault file.
    method Verify() -> (records: int, damaged: int, sound: bool)

    method Status() -> (
      version: string, pid: int, since: int,
      preference: (auto, secret_service, file),
      stores: []StoreStatus,
      # how the process protects itself: each measure and whether it is in force
      protections: [string]bool
    )

    error NotFound (key: string, account: string)
    error InvalidArgument (argument: string, reason: string)
    error Expired (key: string, account: string, expired: int)
    error Locked (store: string, reason: string)
    error Denied (reason: string)
    error Conflict (key: string, account: string, version: int)
    # `stored`: when it was stored in a store that no longer has it
    error Unavailable (store: string, reason: string, stored: ?int)
    error Damaged (store: string, reason: string)
    error WrongPassphrase ()
    error UnsupportedVersion (found: int, supported: int)
    error TooLarge (size: int, limit: int)
    error Internal (reason: string)

    """#
}
