// What may stand at a place of the command line: the shells' scripts ask `vault __complete` with the words so far.
// Made of the same tables as the reader and help. Wants to know what is stored only where a key, a namespace or an
// account is to be named; knows no secret.

import VaultClient

/// What a shell may offer for the last word of a command line.
struct Completion: Equatable {
  /// How the shell goes on.
  enum Kind: String {
    /// It offers `candidates`.
    case words
    /// It offers the names of files.
    case files
    /// It completes what stands behind `--` as a command line of its own.
    case command
  }

  /// A word, and what it means.
  struct Candidate: Equatable {
    var word: String
    var meaning = ""
  }

  let kind: Kind
  let candidates: [Candidate]

  /// - Parameters:
  ///   - words: what stands behind `vault`; the last one is the beginning of a word, perhaps empty.
  ///   - entries: gives what is stored.
  init(_ words: [String], entries: () -> [Entry]) {
    let prefix = words.last ?? ""
    var candidates: [Candidate] = []
    switch Place(words.dropLast(), prefix) {
    case .nowhere: kind = .words
    case .files: kind = .files
    case .command: kind = .command
    case .words(let words):
      kind = .words
      candidates = words
    case .stored(let names, let before, let key):
      kind = .words
      candidates = names.of(entries(), key).map { Candidate(word: before + $0) }
    }
    self.candidates = candidates.filter { $0.word.utf8.starts(with: prefix.utf8) }
  }

  /// As the scripts read it: the kind, then a line for each candidate, with its meaning behind a tab. Neither can
  /// hold a line end or a tab: no key, namespace or account does.
  var lines: String {
    var text = kind.rawValue + "\n"
    for candidate in candidates {
      text += candidate.word + (candidate.meaning.isEmpty ? "" : "\t" + candidate.meaning) + "\n"
    }
    return text
  }
}

/// Names of what is stored.
private enum StoredNames {
  case keys, namespaces, keysAndNamespaces, accounts

  /// In the order of their bytes, each once.
  /// - Parameters:
  ///   - entries: what is stored.
  ///   - key: whose accounts, where the line names a key or a namespace already.
  /// - Returns: the names.
  func of(_ entries: [Entry], _ key: String?) -> [String] {
    var names: Set<ExactText> = []
    for id in entries.map(\.id) {
      let (text, namespace) = (ExactText(id.key.text), ExactText(id.key.namespace.text))
      switch self {
      case .keys: names.insert(text)
      case .namespaces: names.insert(namespace)
      case .keysAndNamespaces: names.formUnion([text, namespace])
      case .accounts:
        if let key = key.map(ExactText.init), key != text, key != namespace { continue }
        if id.account != .empty { names.insert(ExactText(id.account.text)) }
      }
    }
    return names.sorted().map(\.text)
  }
}

/// Where the last word stands.
private enum Place {
  case nowhere, files, command
  case words([Completion.Candidate])
  /// `before`: what of the word stands in front of the name.
  case stored(StoredNames, before: String = "", key: String? = nil)

  /// - Parameters:
  ///   - words: the words in front.
  ///   - prefix: the beginning of the last word.
  init(_ words: ArraySlice<String>, _ prefix: String) {
    var words = words
    guard let first = words.popFirst() else {
      let flags = prefix.utf8.first == UInt8(ascii: "-") ? ["--help", "--version"] : []
      self = .words(commandWords + flags.map { .init(word: $0) })
      return
    }
    if let command = Command(rawValue: first) {
      self.init(in: command, words, prefix)
    } else if let second = words.popFirst() {
      guard let command = Command(rawValue: "\(first) \(second)") else {
        self = .nowhere
        return
      }
      self.init(in: command, words, prefix)
    } else {
      self = .words(secondWords(of: first))
    }
  }

  private init(in command: Command, _ words: ArraySlice<String>, _ prefix: String) {
    var given: Set<Flag> = []
    var operands: [String] = []
    var open: Flag?
    var flagsAreOver = false
    for word in words {
      if open != nil {
        open = nil
      } else if flagsAreOver {
        operands.append(word)
      } else if word == "--" {
        guard !command.startsProgram else {
          self = .command
          return
        }
        flagsAreOver = true
      } else if word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 {
        let (name, attached) = split(word)
        guard let flag = Flag(rawValue: name) else {
          self = .nowhere
          return
        }
        given.insert(flag)
        if flag.placeholder != nil, attached == nil { open = flag }
      } else {
        operands.append(word)
      }
    }
    if let open {
      self.init(valueOf: open, prefix, before: "", operands)
    } else if !flagsAreOver, prefix.utf8.first == UInt8(ascii: "-") {
      let (name, attached) = split(prefix)
      if let attached {
        guard let flag = Flag(rawValue: name), command.flags.contains(flag) else {
          self = .nowhere
          return
        }
        self.init(valueOf: flag, attached, before: name + "=", operands)
      } else {
        let flags = command.flags.filter { $0.repeats || !given.contains($0) } + [.help]
        var words = flags.map { Completion.Candidate(word: $0.rawValue, meaning: $0.text) }
        if command.startsProgram { words.append(.init(word: "--")) }
        self = .words(words)
      }
    } else if operands.count < command.operands.count {
      self.init(operand: command.operands[operands.count], operands)
    } else {
      self = command.startsProgram ? .words([.init(word: "--")]) : .nowhere
    }
  }

  private init(valueOf flag: Flag, _ value: String, before: String, _ operands: [String]) {
    switch flag {
    case .account: self = .stored(.accounts, before: before, key: operands.first)
    case .env:
      let (name, key) = split(value)
      self = key == nil ? .nowhere : .stored(.keys, before: before + name + "=")
    case .keyFile, .passphraseFile: self = .files
    case .credential, .expiresAt, .expiresIn, .idle, .ifVersion, .label, .minValidity: self = .nowhere
    case .allowEmpty, .expiresFromJWT, .help, .json, .noPrompt, .raw, .untilLogout: self = .nowhere
    }
  }

  /// - Parameters:
  ///   - name: as help names it.
  ///   - operands: those in front of it.
  private init(operand name: String, _ operands: [String]) {
    switch name {
    case "KEY": self = .stored(.keys)
    case "NAMESPACE": self = .stored(.namespaces)
    case "NAMESPACE|KEY": self = .stored(.keysAndNamespaces)
    case "KIND": self = .words(Slot.Kind.allCases.map { .init(word: $0.word) })
    case "VALUE": self = operands.first == Slot.Kind.keyFile.word ? .files : .nowhere
    case "SHELL": self = .words(Shell.allCases.map { .init(word: $0.rawValue) })
    case "COMMAND": self = .words(commandWords)
    case "WORD": self = .words(secondWords(of: operands[0]))
    default: self = .nowhere
    }
  }
}

/// The first words of all commands, each once.
private var commandWords: [Completion.Candidate] {
  var words: [Completion.Candidate] = []
  for command in Command.allCases {
    let word = String(command.rawValue.prefix { $0 != " " })
    guard words.last?.word != word else { continue }
    let isGroup = word != command.rawValue
    let seconds = secondWords(of: word).map(\.word).joined(separator: ", ")
    words.append(.init(word: word, meaning: isGroup ? seconds : command.summary))
  }
  return words
}

/// What may stand behind the first word of commands that have two.
private func secondWords(of first: String) -> [Completion.Candidate] {
  Command.group(first).map { command in
    .init(word: String(command.rawValue.dropFirst(first.count + 1)), meaning: command.summary)
  }
}
