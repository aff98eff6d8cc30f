// Asking the user, one prompt at a time. Whoever needs something unlocked while a prompt is on the screen
// joins it; its outcome is the outcome of all who waited. A prompt is never taken away: when a request's
// time is over it leaves, and the prompt stays for those who come later (Prompt.Dismiss makes gnome-keyring
// abort). An unlock that happens in any other way wakes those who wait as well.

import GLibLoop
import VaultModel

/// The unlocking of one provider's collections and items.
@GLibActor
final class Unlocking {
  /// What came of a prompt.
  enum PromptOutcome {
    /// Somebody agreed; the result depends on what was asked.
    case completed(Variant?)
    /// Somebody refused.
    case dismissed
    /// Nothing yet, but something was unlocked meanwhile.
    case lockChanged
    /// It could not be shown, or the provider is gone, with its prompt.
    case failed(Trouble)
  }

  /// A prompt that is on the screen.
  @GLibActor private final class Prompt {
    var outcome: PromptOutcome?
    var subscription: BusSubscription?
    let path: String
    let waiters = Waiters()
    init(_ path: String) { self.path = path }
  }

  /// What came of asking for an unlock.
  private enum Answer {
    case unlocked
    case onScreen
    case notShown
    case failed(Trouble)
  }

  private weak let provider: Provider?
  private var onScreen: Prompt? {
    didSet { provider?.onPrompt?(onScreen != nil) }
  }
  private var asking: Shared<Answer>?
  private var lastDismissal: Deadline?
  /// Prompts that the provider made and that nobody wanted to see, by what they would unlock: used when
  /// somebody does, since the provider keeps each until it was shown.
  private var unshown: [String: String] = [:]

  init(_ provider: Provider) {
    self.provider = provider
  }

  /// Gets the object at `path` unlocked, or tries to. When it returns something has changed: look again.
  /// - Throws: `.promptNotWanted`, `.dismissed`, `.promptNotAnswered`, or what the provider answered.
  func unlock(_ path: String, _ allowance: Allowance) async throws(Trouble) {
    guard let provider else { throw .gone(.ownerLost) }
    while true {
      if let end = provider.end { throw .gone(end) }
      if let lastDismissal, allowance.arrival < lastDismissal { throw .dismissed }
      if let prompt = onScreen {
        guard allowance.interactive else { throw .promptNotWanted }
        switch try await wait(for: prompt, allowance) {
        case .completed, .lockChanged: return
        case .dismissed: throw .dismissed
        case .failed(let trouble): throw trouble
        }
      }
      if let asking {
        guard await asking.value(by: allowance.deadline) != nil else { throw .isLocked(nil) }
        continue
      }
      allowance.unlocks += 1
      guard allowance.unlocks <= Limits.unlocks else { throw .isLocked(nil) }
      let show = allowance.interactive
      let ask = Shared { [weak self] in await self?.ask(path, of: provider, show: show) ?? .notShown }
      asking = ask
      guard let answer = await ask.value(by: allowance.deadline) else { throw .isLocked(nil) }
      switch answer {
      case .unlocked: return
      case .onScreen: continue
      case .notShown: throw .promptNotWanted
      case .failed(let trouble): throw trouble
      }
    }
  }

  /// Shows a prompt that a call other than Unlock brought, when no other is on the screen, and waits for it.
  /// - Returns: what the prompt gave.
  func show(_ path: String, _ allowance: Allowance) async throws(Trouble) -> Variant? {
    guard let provider else { throw .gone(.ownerLost) }
    while let other = onScreen {
      guard allowance.interactive else { throw .promptNotWanted }
      _ = try await wait(for: other, allowance)
    }
    guard allowance.interactive else { throw .promptNotWanted }
    let prompt = putOnScreen(path, of: provider)
    while true {
      switch try await wait(for: prompt, allowance) {
      case .completed(let result): return result
      case .lockChanged: continue
      case .dismissed: throw .dismissed
      case .failed(let trouble): throw trouble
      }
    }
  }

  /// Waits until a prompt that was shown is not on the screen any more.
  func end(of path: String) async {
    while let onScreen, onScreen.path == path {
      _ = await onScreen.waiters.wait(by: .after(milliseconds: .max))
    }
  }

  /// Something was unlocked or locked, by whomever.
  func lockChanged() {
    unshown = [:]
    onScreen?.waiters.wakeAll()
  }

  /// The provider is gone.
  func providerEnded() {
    unshown = [:]
    if let prompt = onScreen, let end = provider?.end { finish(prompt, .failed(.gone(end))) }
  }

  // MARK: Asking

  private func ask(_ path: String, of provider: Provider, show: Bool) async -> Answer {
    defer { asking = nil }
    // The caller's wait has a limit; the asking itself ends with the answer, so that two never overlap.
    let patience = Deadline.after(milliseconds: .max)
    do throws(Trouble) {
      var prompt = unshown[path]
      if prompt == nil {
        let answer = try await provider.call(
          .service, "Unlock", .tuple([.paths([path])]), reply: "(aoo)", by: patience)
        let needed = answer[1]?.string ?? Object.none
        if needed == Object.none { return .unlocked }
        prompt = needed
      }
      guard let prompt else { return .unlocked }
      guard show else {
        unshown[path] = prompt
        return .notShown
      }
      unshown[path] = nil
      _ = putOnScreen(prompt, of: provider)
      return .onScreen
    } catch {
      return .failed(error)
    }
  }

  private func putOnScreen(_ path: String, of provider: Provider) -> Prompt {
    let prompt = Prompt(path)
    // Before the call: a prompt may complete before the call is answered.
    prompt.subscription = provider.bus.subscribe(
      sender: provider.owner, interface: "org.freedesktop.Secret.Prompt", member: "Completed", path: path
    ) { [weak self, weak prompt] signal in
      guard let self, let prompt else { return }
      let dismissed = signal.parameters[0]?.boolean ?? true
      finish(prompt, dismissed ? .dismissed : .completed(signal.parameters[1]?.unboxed))
    }
    onScreen = prompt
    // No window to be a child of.
    let call = provider.begin(.prompt(path), "Prompt", .tuple([.string("")]), reply: "()")
    Task { @GLibActor in
      do throws(Trouble) {
        _ = try await provider.answer(call, by: .after(milliseconds: .max))
      } catch {
        finish(prompt, .failed(error))
      }
    }
    return prompt
  }

  private func finish(_ prompt: Prompt, _ outcome: PromptOutcome) {
    guard prompt.outcome == nil else { return }
    prompt.outcome = outcome
    prompt.subscription?.cancel()
    if onScreen === prompt { onScreen = nil }
    if case .dismissed = outcome { lastDismissal = .now }
    prompt.waiters.wakeAll()
  }

  private func wait(for prompt: Prompt, _ allowance: Allowance) async throws(Trouble) -> PromptOutcome {
    allowance.extend()
    if prompt.outcome == nil, await !prompt.waiters.wait(by: allowance.deadline), prompt.outcome == nil {
      throw .promptNotAnswered
    }
    return prompt.outcome ?? .lockChanged
  }
}
