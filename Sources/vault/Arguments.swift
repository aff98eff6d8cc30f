// From the words of the command line to values of the model. Everything is judged here before anything is
// sent, read or asked.

import CLinux
import Glibc
import VaultClient

/// The key that is the first operand, with `--account`.
func entryID(_ invocation: Invocation) throws(Failure) -> EntryID {
  EntryID(try key(invocation.operands[0]), try account(invocation) ?? .empty)
}

func key(_ text: String) throws(Failure) -> Key {
  do throws(VaultError) { return try Key(text) } catch { throw Failure(error) }
}

func namespace(_ text: String) throws(Failure) -> Namespace {
  do throws(VaultError) { return try Namespace(text) } catch { throw Failure(error) }
}

/// What `--account` says; the empty account is one.
func account(_ invocation: Invocation) throws(Failure) -> Account? {
  guard let text = invocation[.account] else { return nil }
  do throws(VaultError) { return try Account(text) } catch { throw Failure(error) }
}

func duration(_ flag: Flag, _ invocation: Invocation) throws(Failure) -> Int64? {
  guard let text = invocation[flag] else { return nil }
  do throws(VaultError) { return try readDuration(text, argument: flag.rawValue) } catch {
    throw Failure(error)
  }
}

func version(_ invocation: Invocation) throws(Failure) -> Version? {
  guard let text = invocation[.ifVersion] else { return nil }
  guard let version = readWholeNumber(text) else {
    throw .usage("--if-version is no version: a whole number, as --json shows it", invocation.command)
  }
  return version
}

/// Refuses flags that exclude each other.
func allowOne(of flags: [Flag], _ invocation: Invocation) throws(Failure) {
  let given = flags.filter(invocation.has)
  guard given.count <= 1 else {
    throw .usage("\(given[0].rawValue) and \(given[1].rawValue) exclude each other", invocation.command)
  }
}

/// A path as the daemon, which has another working folder, can use it.
func absolutePath(_ path: String, _ argument: String) throws(Failure) -> String {
  guard !path.isEmpty else { throw Failure(.invalidArgument, "\(argument) is empty") }
  var absolute = path
  if path.utf8.first != UInt8(ascii: "/") {
    guard let folder = unsafe getcwd(nil, 0) else {
      let reason = unsafe String(cString: strerror(errno))
      throw Failure(.invalidArgument, "\(argument): the working folder cannot be told: \(reason)")
    }
    defer { unsafe free(folder) }
    guard let text = unsafe String(validatingCString: folder) else {
      throw Failure(.invalidArgument, "\(argument): the working folder is not UTF-8; give an absolute path")
    }
    absolute = text + (text == "/" ? "" : "/") + path
  }
  guard absolute.utf8.count < Limits.pathBytes else {
    throw Failure(.invalidArgument, "\(argument) is longer than \(Limits.pathBytes - 1) bytes")
  }
  return absolute
}
