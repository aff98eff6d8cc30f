// The daemon's life: open the socket, start the vault, serve, read the settings again, end in order. Owns the loop
// and everything that hangs on it; what the vault and its stores are made of is the program's to say. Sees no
// request.

import CLinux
import Glibc
import SecretMemory
import VaultCore
import VaultModel

/// What the daemon serves, as the program put it together.
public struct Service {
  /// The vault.
  public var vault: Vault
  /// What the user has to be told of how the stores were found; for the log.
  public var warnings: [String]
  /// Makes everything ready; requests are served when it returns, or after `Limits.startMilliseconds`.
  public var start: @VaultActor () async -> Void
  /// Ends what the stores have open, in order; given `Limits.closeMilliseconds`.
  public var close: @VaultActor () async -> Void

  /// A service of these parts.
  public init(
    vault: Vault, warnings: [String], start: @escaping @VaultActor () async -> Void,
    close: @escaping @VaultActor () async -> Void
  ) {
    self.vault = vault
    self.warnings = warnings
    self.start = start
    self.close = close
  }
}

/// One run of the daemon.
@VaultActor
public final class Daemon {
  private enum Stage {
    case starting, serving, ending, closing, ended
  }

  private let start: Invocation.Start
  private let manager: ServiceManager
  private let clock: SystemClock
  private let loop: EventLoop
  private let journal: Journal
  private let listener: Listener
  private let server: Server
  private let selfLock: SelfLock
  private let service: Service
  private let restWatch: RestWatch
  private var settings: Settings
  private var stage = Stage.starting
  private var idleSince: BootTime?
  private var signals: SignalWatcher?
  private var clockWatch: ClockWatch?

  /// Runs the daemon until it is told to end. Call it from a job of the vault's actor on the main thread, before other
  /// threads are started; it returns when the daemon has ended.
  /// - Parameters:
  ///   - start: what it runs with.
  ///   - manager: who started it.
  ///   - make: puts the vault and its stores together.
  /// - Returns: the exit status.
  public static func run(
    _ start: Invocation.Start, manager: ServiceManager,
    make: @VaultActor (Settings, any Clock) -> Service
  ) -> Int32 {
    do throws(StartFailure) {
      // Before the stores start threads, which inherit it.
      let signals = try Signals.block()
      let daemon = try Daemon(start, manager: manager, make: make)
      return daemon.run(signals: signals)
    } catch {
      report(error, to: manager)
      return error.exitStatus
    }
  }

  /// Says on standard error why the daemon does not start.
  public nonisolated static func report(_ failure: StartFailure, to manager: ServiceManager) {
    let line = (manager.journalReadsStandardError ? "<3>" : "vaultd: ") + failure.description + "\n"
    let bytes = Array(line.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private init(
    _ start: Invocation.Start, manager: ServiceManager, make: @VaultActor (Settings, any Clock) -> Service
  ) throws(StartFailure) {
    self.start = start
    self.manager = manager
    settings = start.settings
    clock = SystemClock()
    // A socket first: whoever is second must not touch the data.
    if manager.sockets.isEmpty {
      listener = try Listener(path: start.socketPath)
    } else {
      listener = try Listener(handedOver: manager.sockets)
    }
    _ = clinux_raise_descriptor_limit(Limits.descriptors)
    service = make(start.settings, clock)
    do {
      loop = try EventLoop(clock: clock)
      journal = Journal(
        level: settings.logLevel, showsPriorities: manager.journalReadsStandardError, clock: clock,
        alarms: loop.alarms)
      let since = clock.wall
      let vault = service.vault
      let dispatch = Dispatch(vault: vault) {
        DaemonStatus(
          version: productVersion, pid: getpid(), since: since, preference: vault.preference,
          stores: vault.storeStatuses,
          protections: Hardening.protections)
      }
      selfLock = SelfLock(vault: vault, clock: clock, alarms: loop.alarms, journal: journal)
      server = try Server(
        loop: loop, clock: clock, alarms: loop.alarms, dispatch: dispatch, journal: journal,
        idle: selfLock.idle)
      let server = server
      restWatch = RestWatch(server, clock: clock, alarms: loop.alarms) {
        server.rest()
        giveBackMemory()
      } forget: {
        vault.rest()
        giveBackMemory()
      }
    } catch {
      throw .bug("\(error)")
    }
  }

  // MARK: Serving

  private func run(signals: consuming Signals) -> Int32 {
    for warning in start.warnings + service.warnings { journal.note(.warning, warning) }
    if listener.folderWasLoose {
      journal.note(.warning, "the folder of \(listener.path) was open to others and is private now")
    }
    server.checkMemoryLock()
    let journal = journal
    journal.onLines = { [loop] in loop.atEndOfTurn { journal.endTurn() } }
    server.onChange = { [unowned self] in noteConnections() }
    do {
      self.signals = try SignalWatcher(signals, loop: loop) { [unowned self] in take(signal: $0) }
      clockWatch = try ClockWatch(loop: loop) { [vault = service.vault] in vault.clockJumped() }
      Task { @VaultActor in
        await service.start()
        serve()
      }
      // A disk that hangs must not keep the other store's tokens away.
      loop.alarms.set(clock.boot.advanced(by: Limits.startMilliseconds)) { [unowned self] in serve() }
      try loop.run()
    } catch {
      journal.note(.error, "\(error)")
      journal.flush()
      service.vault.lock()
      listener.close()
      return 70
    }
    return 0
  }

  private func serve() {
    guard stage == .starting else { return }
    let server = server
    do throws(SystemError) {
      try listener.start(loop: loop, clock: clock) { server.take($0) }
    } catch {
      journal.note(.error, "the socket cannot be watched: \(error)")
      end()
      return
    }
    stage = .serving
    // Not before: the file that opens by itself would do so behind a lock.
    selfLock.watch(for: settings.locks)
    journal.note(
      .info, "vaultd \(productVersion) serves \(listener.path), store \(settings.store.flag)")
    manager.notify("READY=1", "STATUS=Serving \(listener.path)")
    loop.alarms.set(clock.boot.advanced(by: Limits.startCodeMilliseconds)) { [unowned self] in
      giveBackMemory()
      restWatch.watch()
    }
    noteConnections()
  }

  private func take(signal: Int32) {
    switch signal {
    case SIGHUP:
      reload()
    default:
      // Who asks again does not want to wait.
      switch stage {
      case .starting, .serving: end()
      case .ending: finish()
      case .closing, .ended: stop()
      }
    }
  }

  // MARK: Settings

  /// Reads the settings again. Where something is wrong with them, those that are in force stay.
  private func reload() {
    let new: Settings
    do throws(StartFailure) {
      let (read, warnings) = try Settings.read(flags: start.flags, surroundings: start.surroundings)
      for warning in warnings { journal.note(.warning, warning) }
      new = read
    } catch {
      journal.note(.error, "the settings stay as they are: \(error)")
      return
    }
    for setting in settings.changesThatWait(for: new) {
      journal.note(.warning, "\(setting.rawValue): the new value counts after a restart")
    }
    settings.store = new.store
    settings.timeouts = new.timeouts
    settings.logLevel = new.logLevel
    settings.locks = new.locks
    service.vault.preference = new.store
    service.vault.timeouts = new.timeouts
    journal.level = new.logLevel
    if stage == .serving { selfLock.watch(for: new.locks) }
    journal.note(.info, "the settings were read again, store \(new.store.flag)")
  }

  // MARK: Idleness

  private func noteConnections() {
    guard let seconds = settings.idleExit, stage == .serving else { return }
    guard server.count == 0 else {
      idleSince = nil
      return
    }
    let since = clock.boot
    idleSince = since
    loop.alarms.set(since.advanced(by: Int64(seconds) * 1_000)) { [unowned self] in
      guard stage == .serving, idleSince == since else { return }
      // What waits to be moved is moved by a daemon that runs.
      if service.vault.storeStatuses.contains(where: { $0.pending > 0 }) {
        noteConnections()
      } else {
        journal.note(.info, "nobody asked for \(seconds) s")
        end()
      }
    }
  }

  // MARK: The end

  /// Takes no further request, and finishes once those that run are answered, or their time is over.
  private func end() {
    guard stage == .starting || stage == .serving else { return }
    stage = .ending
    manager.notify("STOPPING=1", "STATUS=Ending")
    listener.close()
    loop.alarms.set(clock.boot.advanced(by: Int64(settings.timeouts.plain) * 1_000)) { [unowned self] in
      finish()
    }
    server.end { [unowned self] in finish() }
  }

  /// Has the stores end what they have open, and stops the loop.
  private func finish() {
    guard stage == .ending else { return }
    stage = .closing
    server.closeAll()
    loop.alarms.set(clock.boot.advanced(by: Limits.closeMilliseconds)) { [unowned self] in stop() }
    Task { @VaultActor in
      await service.close()
      stop()
    }
  }

  private func stop() {
    guard stage == .closing else { return }
    stage = .ended
    service.vault.lock()
    journal.note(.info, "vaultd ends")
    journal.flush()
    loop.stop()
  }
}

/// Gives back what is free in heaps and secret memory, and code that nobody runs at present.
private func giveBackMemory() {
  SecretMemory.giveBackUnused()
  clinux_give_back_memory()
}
