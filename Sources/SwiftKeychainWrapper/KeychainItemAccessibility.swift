// When a value may be read on Apple's systems. On Linux a value may be read while the store that holds it is
// unlocked, whatever was asked for here; what was asked for is remembered and told, and changes nothing.

/// How accessible a program wants a value to be. Accepted, remembered for `accessibilityOfKey`, without effect.
public enum KeychainItemAccessibility: String, Hashable, CaseIterable, Sendable {
  /// From the first unlock after a restart on.
  case afterFirstUnlock
  /// The same, on this device alone.
  case afterFirstUnlockThisDeviceOnly
  /// Always.
  case always
  /// While unlocked, where there is a passcode, on this device alone.
  case whenPasscodeSetThisDeviceOnly
  /// Always, on this device alone.
  case alwaysThisDeviceOnly
  /// While unlocked: what is asked for where nothing is said.
  case whenUnlocked
  /// While unlocked, on this device alone.
  case whenUnlockedThisDeviceOnly
}
