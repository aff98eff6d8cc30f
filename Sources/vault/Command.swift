// The subcommands, each once: what it is called, what it takes, what help says of it. What it does is in a
// file of its own; `runCommand` goes from one to the other.

/// A subcommand, by the words that call it.
enum Command: String, CaseIterable {
  case get
  case set
  case clear
  case logout
  case list
  case watch
  case touch
  case status
  case initialise = "init"
  case lock
  case unlock
  case slotList = "slot list"
  case slotAdd = "slot add"
  case slotRemove = "slot remove"
  case verify
  case run
  case renew
  case completions
  case help

  /// The commands of two words that begin with this one.
  static func group(_ word: String) -> [Command] {
    allCases.filter { $0.rawValue.hasPrefix(word + " ") }
  }

  /// What it takes beside flags, by the names that help gives them.
  var operands: [String] {
    switch self {
    case .get, .set, .clear, .touch, .renew: ["KEY"]
    case .logout, .list: ["NAMESPACE"]
    case .watch: ["NAMESPACE|KEY"]
    case .slotAdd: ["KIND", "VALUE"]
    case .slotRemove: ["N"]
    case .completions: ["SHELL"]
    case .help: ["COMMAND", "WORD"]
    case .status, .initialise, .lock, .unlock, .slotList, .verify, .run: []
    }
  }

  /// How many of them must be there.
  var requiredOperands: Int {
    switch self {
    case .get, .set, .clear, .logout, .touch, .slotAdd, .slotRemove, .renew, .completions: 1
    case .list, .watch, .status, .initialise, .lock, .unlock, .slotList, .verify, .run, .help: 0
    }
  }

  /// The flags that it takes, in the order of help; `--help` goes without saying.
  var flags: [Flag] {
    switch self {
    case .get: [.account, .minValidity, .json, .noPrompt]
    case .set:
      [
        .account, .expiresIn, .expiresAt, .expiresFromJWT, .idle, .untilLogout, .label, .ifVersion, .raw,
        .allowEmpty, .json, .noPrompt,
      ]
    case .clear: [.account, .ifVersion, .json]
    case .logout, .touch: [.account, .json]
    case .list, .watch, .status, .verify: [.json]
    case .initialise: [.passphraseFile, .keyFile, .credential]
    case .unlock: [.passphraseFile, .keyFile]
    case .slotAdd: [.passphraseFile]
    case .run: [.account, .env]
    case .renew: [.account, .minValidity, .expiresIn, .expiresFromJWT]
    case .lock, .slotList, .slotRemove, .completions, .help: []
    }
  }

  /// Whether what stands behind `--` is the command line of another program.
  var startsProgram: Bool { self == .run || self == .renew }

  /// The lines that show how it is called.
  var synopsis: String {
    switch self {
    case .get: "vault get KEY          [--account A] [--min-validity DURATION] [--json] [--no-prompt]"
    case .set:
      """
      vault set KEY          [--account A] [--expires-in DURATION | --expires-at TIME | --expires-from-jwt]
                             [--idle DURATION] [--until-logout] [--label TEXT] [--if-version N]
                             [--raw] [--allow-empty] [--json] [--no-prompt]
      """
    case .clear: "vault clear KEY        [--account A] [--if-version N] [--json]"
    case .logout: "vault logout NAMESPACE [--account A] [--json]"
    case .list: "vault list [NAMESPACE] [--json]"
    case .watch: "vault watch [NAMESPACE|KEY] [--json]"
    case .touch: "vault touch KEY        [--account A] [--json]"
    case .status: "vault status           [--json]"
    case .initialise: "vault init             [--passphrase-file PATH | --key-file PATH | --credential NAME]"
    case .lock: "vault lock"
    case .unlock: "vault unlock           [--passphrase-file PATH | --key-file PATH]"
    case .slotList: "vault slot list"
    case .slotAdd:
      """
      vault slot add         passphrase [--passphrase-file PATH]
      vault slot add         key-file PATH
      vault slot add         credential NAME
      """
    case .slotRemove: "vault slot remove N"
    case .verify: "vault verify           [--json]"
    case .run: "vault run              [--account A] --env NAME=KEY ... -- COMMAND"
    case .renew:
      """
      vault renew KEY        [--account A] [--min-validity DURATION] [--expires-in DURATION | --expires-from-jwt]
                             -- COMMAND
      """
    case .completions: "vault completions bash|zsh|fish"
    case .help: "vault help [COMMAND]"
    }
  }

  /// One line of help.
  var summary: String {
    switch self {
    case .get: "write the token to standard output"
    case .set: "store the token that standard input brings, or ask for it"
    case .clear: "remove the token"
    case .logout: "remove every token of the namespace"
    case .list: "show what is stored, never a secret"
    case .watch: "show changes as they happen, until interrupted"
    case .touch: "start the token's idle time anew"
    case .status: "show the daemon, its stores and how it protects itself"
    case .initialise: "make the vault file"
    case .lock: "wipe every key and every token in the daemon's memory"
    case .unlock: "lift the lock and open the vault file"
    case .slotList: "show what opens the vault file"
    case .slotAdd: "let something else open the vault file too"
    case .slotRemove: "let slot N open the vault file no longer"
    case .verify: "authenticate the whole vault file"
    case .run: "run COMMAND with tokens in its environment"
    case .renew: "write the valid token; where there is none, let COMMAND print a new one"
    case .completions: "print what makes a shell complete this command's words"
    case .help: "show how a command is called"
    }
  }

  /// What help says of it beside its flags; may be empty.
  var notes: String {
    switch self {
    case .get: "A line end is added only on a terminal."
    case .set:
      """
      A secret is never taken from the command line. Pipe it in, or answer the question on a terminal:
        printf %s "$TOKEN" | vault set Back4Gram.sessionToken
      One line end at the end of the input is dropped, unless --raw. An empty secret is refused, unless
      --allow-empty: a command that failed before the pipe must not destroy a token.
      """
    case .clear: "Clearing what is not there succeeds."
    case .logout: "The tokens of every account are removed, unless --account names one."
    case .initialise:
      """
      Without a flag, a passphrase is asked for on the terminal. With --key-file or --credential the daemon
      opens the vault file by itself, for machines where nobody is there to type.
      """
    case .unlock:
      "Without a flag, key files and credentials are tried, then a passphrase is asked for on the terminal."
    case .slotAdd: "The vault file must be unlocked."
    case .run: "Nothing is started unless every token was read. The exit status is that of COMMAND."
    case .watch:
      """
      A line for each change: set, cleared, expired, lost, locked, unlocked, available, unavailable.
      A word without a dot is a namespace. One with a dot is both the key and the namespace of that name.
      """
    case .renew:
      """
      COMMAND is run by one caller at a time; the others wait, for at most 30 s, and get its token. What it prints
      is stored as set would store it, and keeps label, idle time and --until-logout of the token before. If it
      fails, or takes more than 60 s while somebody else sets the key, nothing is stored, and what it printed is
      lost. The exit status is then its own.
        vault renew Stream.userToken --min-validity 5m --expires-from-jwt -- ./fetch-token
      """
    case .completions:
      """
      bash  source <(vault completions bash)
      zsh   source <(vault completions zsh)                  behind compinit
      fish  vault completions fish | source
      """
    case .list, .status, .touch, .lock, .slotList, .slotRemove, .verify, .help: ""
    }
  }
}
