// The flags of the command, each once: how it is written, what it takes, what help says of it.

/// A flag, by its name.
enum Flag: String, CaseIterable {
  case account = "--account"
  case allowEmpty = "--allow-empty"
  case credential = "--credential"
  case env = "--env"
  case expiresAt = "--expires-at"
  case expiresFromJWT = "--expires-from-jwt"
  case expiresIn = "--expires-in"
  case help = "--help"
  case idle = "--idle"
  case ifVersion = "--if-version"
  case json = "--json"
  case keyFile = "--key-file"
  case label = "--label"
  case minValidity = "--min-validity"
  case noPrompt = "--no-prompt"
  case passphraseFile = "--passphrase-file"
  case raw = "--raw"
  case untilLogout = "--until-logout"

  /// What stands for its value in help; `nil` for a flag without one.
  var placeholder: String? {
    switch self {
    case .account: "A"
    case .credential: "NAME"
    case .env: "NAME=KEY"
    case .expiresAt: "TIME"
    case .expiresIn, .idle, .minValidity: "DURATION"
    case .ifVersion: "N"
    case .keyFile, .passphraseFile: "PATH"
    case .label: "TEXT"
    case .allowEmpty, .expiresFromJWT, .help, .json, .noPrompt, .raw, .untilLogout: nil
    }
  }

  /// Whether it may be given several times.
  var repeats: Bool { self == .env }

  /// One line of help.
  var text: String {
    switch self {
    case .account: "the login that is meant; none is an account of its own"
    case .allowEmpty: "store an empty secret, where that is no mistake"
    case .credential: "open the vault file with this credential of systemd's"
    case .env: "put the token under KEY into the variable NAME; may be given several times"
    case .expiresAt: "over at this time: 2027-01-31T12:00:00Z, or @ and Unix seconds"
    case .expiresFromJWT: "over when the claim exp of the JWT says; never, if there is none"
    case .expiresIn: "over after this time: 90s, 15m, 2h30m, 7d, 4w, 3600"
    case .help: "show this"
    case .idle: "over so long after its last use"
    case .ifVersion: "only if this version is stored; 0: only if nothing is"
    case .json: "one line of JSON"
    case .keyFile: "open the vault file with this file; it is made where it is not there"
    case .label: "what a person reads in a keyring's window"
    case .minValidity: "as if it were over where less than this is left of it"
    case .noPrompt: "ask nobody, neither here nor on the screen"
    case .passphraseFile: "read the passphrase from this file, - for standard input"
    case .raw: "keep a line end at the end of the input"
    case .untilLogout: "keep it as long as the login session"
    }
  }
}
