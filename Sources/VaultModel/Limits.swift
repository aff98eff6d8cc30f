// Every limit of the vault, each with its reason. Nothing else in the project holds a number of this kind;
// tests stand at each limit and one past it.

/// What the vault accepts, how long it waits, how much it holds.
public enum Limits {
  // What is stored.

  /// A key, in bytes of UTF-8: longer than any name in use, short enough for attributes and logs.
  public static let keyBytes = 255
  /// An account, in bytes of UTF-8.
  public static let accountBytes = 255
  /// A label, in bytes of UTF-8: one line that a person reads in a keyring's window.
  public static let labelBytes = 1_024
  /// A secret: 1 MiB. Tokens have a few hundred bytes; what is larger is a file and no session token.
  public static let secretBytes = 1_048_576
  /// A passphrase: what scrypt can take is unbounded, what a person types is not.
  public static let passphraseBytes = 4_096
  /// A path in a request or on the command line: the system's own PATH_MAX.
  public static let pathBytes = 4_096
  /// A point in time, in seconds since 1970: the end of the year 9999, the last that RFC 3339 can write.
  public static let latestTime: Int64 = 253_402_300_799
  /// A duration, in seconds: 1,000 years. Added to any time of ours it cannot overflow.
  public static let longestDuration: Int64 = 31_556_952_000

  // What a client may send.

  /// A frame: 6.5 MiB, a secret of 1 MiB in the longest escapes of JSON (`\u0000`, six bytes a byte) and
  /// room for the rest.
  public static let frameBytes = 6_815_744
  /// A frame up to this size lives in the arena; a larger one gets memory of its own.
  public static let smallFrameBytes = 65_536
  /// How many frames larger than that may be on their way at once: four of them are 26 MiB.
  public static let largeFrames = 4
  /// Tokens of JSON in one request: the widest method has 13 members.
  public static let requestTokens = 256
  /// Tokens of JSON in one reply, as a client reads it: a list of 100,000 entries has about 2,600,000.
  public static let replyTokens = 16_777_216
  /// A reply, as a client takes it: a list of 100,000 entries with long names has about 100 MiB.
  public static let replyBytes = 268_435_456
  /// What a client keeps for calls and replies between two of them: most have a few hundred bytes.
  public static let replyBufferBytes = 4_096
  /// A lease's name, in bytes: ours are shorter.
  public static let leaseBytes = 64
  /// The name of a credential: what a file's name may be (NAME_MAX), as systemd has it.
  public static let credentialBytes = 255
  /// The name of an unknown member that an error repeats, in bytes: twice the longest of ours. Longer ones
  /// may be a token in the wrong place.
  public static let echoedFieldBytes = 24
  /// The name of an unknown interface or method that an error repeats, in bytes.
  public static let echoedMethodBytes = 128
  /// Nesting of JSON: the deepest reply has 4 levels.
  public static let nesting = 16

  // What a client may take up.

  /// Connections at once: half of the unit's LimitNOFILE, so that stores and the bus always find a descriptor.
  public static let connections = 2_048
  /// Bytes that a read asks for at least, where a request came in pieces.
  public static let receiveBytes = 4_096
  /// Seconds from the first byte of a frame to its end.
  public static let sendSeconds = 10
  /// Seconds that a client may leave an answer unread.
  public static let receiveSeconds = 10
  /// Bytes of answers waiting for one client before it is no longer read from.
  public static let unsentBytes = 65_536

  /// Connections whose answers are put together before the first is sent, where they asked at once: enough that a program
  /// with many connections is woken up seldom, and few enough that the first does not wait long for the last.
  public static let answersAtOnce = 32
  /// Bytes that are set aside for an answer: a token with its entry, twice and more. A longer one gets what it takes.
  public static let answerBytes = 4_096
  /// Bytes of events that are put together before they are sent to a watcher: a few dozen in one write, and all that one
  /// that reads nothing leaves with its connection.
  public static let eventBytes = 4_096

  /// Bytes that all connections but one together may leave with the daemon, requests that are not complete and
  /// answers that are not read. Over it, the connection that has been stuck longest is closed: 2,048 of them, each
  /// with a large answer unread, would be 12 GiB.
  public static let bufferedBytes = 33_554_432
  /// Milliseconds that the vault file may take to open before the daemon serves without it: within what the command
  /// waits for a daemon that it started.
  public static let startMilliseconds: Int64 = 3_000
  /// Milliseconds after the start until memory is given back: most of the code that is there by then was for starting.
  public static let startCodeMilliseconds: Int64 = 1_000
  /// Milliseconds without a request until memory is given back again: that of code, and what is free. The next request
  /// then takes some tenths of a millisecond more, which nobody notices who asks that seldom.
  public static let quietMilliseconds: Int64 = 2_000
  /// Milliseconds after that until what was read of the vault file is forgotten: a program that asks several times a
  /// minute finds it in memory.
  public static let keptMilliseconds: Int64 = 60_000
  /// Milliseconds that the stores may take to end what they have open.
  public static let closeMilliseconds: Int64 = 3_000
  /// Milliseconds for which a daemon that starts waits for one that is about to end: within what the command waits.
  public static let lockMilliseconds: Int64 = 3_000
  /// Connections that wait to be accepted: as many as a system allows by default.
  public static let backlog: Int32 = 4_096
  /// Descriptors that the daemon asks for: connections, and twice as many with what stores, bus and loop need.
  public static let descriptors: UInt64 = 4_096
  /// Milliseconds for which the listener rests where the system has no memory for a connection.
  public static let acceptRestMilliseconds: Int64 = 200

  // The log.

  /// Bytes of lines that wait for standard error; what comes on top is counted and dropped.
  public static let journalBytes = 65_536
  /// Milliseconds in which lines are gathered, and equal reads counted, once there are many.
  public static let journalMilliseconds: Int64 = 100
  /// Writes of lines in that time, before they are gathered: one for each command of a script.
  public static let journalWrites = 32

  // How long a request may take, in seconds; both are settings.

  /// Without a prompt.
  public static let timeout = 10
  /// With a prompt on the user's screen.
  public static let promptTimeout = 60
  /// The longest either may be set to.
  public static let longestTimeout = 3_600
  /// Milliseconds that a store's own word about what went wrong is waited for, beyond the request's time.
  public static let graceMilliseconds: Int64 = 500
  /// What a client waits beyond the daemon's own limit before it says that no daemon answered.
  public static let clientGraceSeconds = 5
  /// Milliseconds after which a client tries again to connect to a daemon whose queue is full.
  public static let connectRetryMilliseconds = 5
  /// The stack of the thread that waits for a client's asynchronous calls: it calls nothing that goes deep.
  public static let pollThreadStack = 262_144
  /// How often a renewed token whose lease ended meanwhile is offered again: each time somebody else may have the lease.
  public static let renewalTries = 5
  /// How long the command waits for a daemon that it started.
  public static let startSeconds = 5
  /// Milliseconds that a completion may wait for the daemon: nobody waits longer for the key that they pressed.
  public static let completionMilliseconds: Int64 = 500

  // Renewal, watching and the cache.

  /// Seconds that a lease lasts.
  public static let leaseSeconds = 60
  /// Seconds that a caller waits for somebody else's renewal unless it says otherwise.
  public static let refreshWaitSeconds = 30
  /// Milliseconds that a value read from the Secret Service is served from memory: gnome-keyring announces no
  /// change of an item's secret.
  public static let cacheMilliseconds: Int64 = 1_000
  /// Bytes of such values: a thousand tokens and more, or a few of the largest; with more the cache begins anew.
  public static let cacheBytes = 4_194_304
  /// Bytes that records of the vault file may take in memory, their secrets sealed, so that the file need not be asked
  /// again: 150,000 tokens and more of the usual kind. Dropped whole where one more does not fit, and after a quiet minute.
  public static let keptBytes = 67_108_864
  /// Names of entries that are known again by their bytes: a power of two.
  public static let namesKept = 1_024
  /// Bytes of a record up to which it is kept: what is longer is long to send as well.
  public static let keptRecordBytes = 4_096
  /// Events that a watcher has not taken: what a logout of a large namespace makes fits. With more it is told `lost`.
  public static let watchEvents = 1_024

  // Expiry.

  /// Milliseconds between the end of an entry and the removal of its secret, in which the clock must not jump: a clock
  /// that is set wrong and right again in that time costs no token.
  public static let purgeMilliseconds: Int64 = 60_000
  /// Milliseconds by which wall clock and boot clock may part before that is a jump: more than an adjusted clock
  /// (adjtime) moves in a minute.
  public static let jumpMilliseconds: Int64 = 1_000
  /// The part of an idle time after which a new use is written down: a crash costs at most so much of it.
  public static let idleParts: Int64 = 10
  /// Milliseconds after which the time is written down again, while there are changes.
  public static let timeRecordMilliseconds: Int64 = 60_000

  // The Secret Service.

  /// Milliseconds before what is owed to it and failed is tried again: soon enough that nobody waits for it,
  /// seldom enough that a keyring which refuses one item is not kept busy with it.
  public static let settleMilliseconds: Int64 = 2_000
  /// The longest that it rests where it fails again and again.
  public static let longestSettleMilliseconds: Int64 = 600_000

  /// Calls on the bus at once: 250 went past a bus's own limit of pending replies.
  public static let busCalls = 64
  /// A secret as it lies in the Secret Service: one of 1 MiB in Base64, with what marks it.
  public static let encodedSecretBytes = 1_400_000
  /// Milliseconds for which a change that was sent and not answered keeps other changes of its key waiting after its
  /// own request has ended: a provider that lost an answer must not close a key for ever.
  public static let lateMilliseconds: Int64 = 30_000
  /// How often one request tries to unlock something before it believes that it stays locked.
  public static let unlocks = 3
  /// How often one request starts again because items vanished under it.
  public static let searches = 5
  /// Items that are known by their path, so that they need not be asked for again and signals can be told by
  /// key: with more the knowledge begins anew. One of ours takes about 1 KB.
  public static let knownItems = 20_000
  /// Milliseconds after a write of ours in which a signal about its item may be about that write: providers that gather
  /// changes tell them within a second or two.
  public static let echoMilliseconds: Int64 = 10_000
  /// Items written within that time that are remembered for it.
  public static let knownWritings = 1_000
  /// Milliseconds of `closeMilliseconds` that closing the session with the provider may take.
  public static let sessionCloseMilliseconds: Int64 = 2_000
  /// Milliseconds in which signals are gathered before they are told: ten times less than the 50 ms in which a
  /// change must be seen, and enough that 2,000 signals are a few.
  public static let signalMilliseconds: Int64 = 5
  /// Milliseconds between tries to reach a bus that is away, while nobody asks: the first, and the longest.
  public static let busRetryMilliseconds: ClosedRange<Int64> = 500...30_000

  // The vault file.

  /// Slots of a vault file.
  public static let slots = 32
  /// scrypt's cost N, as its binary logarithm: 2^17 with r = 8 takes 128 MiB and a third of a second.
  public static let scryptLogN = 17
  /// The bounds of scrypt's parameters when they are read from a file: below is too weak to be ours, above
  /// would let a file take all memory. N · r · 128 bytes is at most 256 MiB.
  public static let scryptLogNRange = 14...18
  /// scrypt's block size.
  public static let scryptR = 8
  /// The one block size that is taken from a file.
  public static let scryptRRange = 8...8
  /// scrypt's parallelisation.
  public static let scryptP = 1
  /// The bounds of scrypt's parallelisation when it is read from a file.
  public static let scryptPRange = 1...4
  /// A key file: 32 random bytes in hexadecimal and a line end; anything larger is no key file.
  public static let keyFileBytes = 4_096

  // The databases.

  /// Milliseconds until a data folder that another daemon had is tried again, where a request needs it.
  public static let folderMilliseconds: Int64 = 1_000

  /// Changes in one transaction: what 50 clients at once have under way fits, and so does half of what a logout has; a commit
  /// stays below some 20 ms.
  public static let changesInOneCommit = 1_024
  /// Keys of a namespace that are cleared side by side: one commit of them is on its way to the disk while the next
  /// one gathers. All of 100,000 at once took 1.8 GB of memory, and nobody else was answered meanwhile.
  public static let keysClearedAtOnce = 2 * changesInOneCommit
  /// Pages of 1 KiB in the write-ahead log after which it is copied into the file: half as many as the file
  /// has, but a small file's log stays below a small disk's size, and a large one's is read in a moment after
  /// a crash.
  public static let logPages = 500...16_000
  /// How often, and milliseconds apart, the log is tried to be emptied after a removal while another program
  /// reads it: 8 s, below `timeout`.
  public static let logEmptyingTries = 1_600
  /// Records that a list reads before other requests have their turn: about a millisecond.
  public static let rowsListedAtOnce = 500
  /// The pause between two of those tries, in milliseconds.
  public static let logEmptyingPause: UInt32 = 5
}
