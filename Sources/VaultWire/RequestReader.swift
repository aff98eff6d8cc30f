// Frame to call, in the daemon: the step between a connection, which finds frames in what a client sends, and
// the vault. It judges everything that can be judged from the frame alone, so that what it lets through is
// valid by itself. It does no I/O, keeps nothing of a frame but names, and lets no value of a request into an error.

import SecretMemory
import VaultModel

/// Reads requests from frames. Keeps its tape between calls, and names that were asked for.
public struct RequestReader: ~Copyable {
  private var tape = Tape()
  private var names = NameTable()

  /// A reader without memory yet.
  public init() {}

  /// Nobody asks at present: gives back memory that only makes it faster.
  public mutating func rest() {
    names.forgetAll()
  }

  /// Reads the call in `frame`, which is the frame without the NUL at its end. The frame is parsed in place
  /// and holds rubbish and pieces of secrets afterwards, for the caller to wipe.
  public mutating func read(_ frame: inout MutableSpan<UInt8>) throws(Refusal) -> Request {
    if let request = PlainCall.request(frame.span, &names) { return request }
    let result: Result<Request, Refusal>
    do {
      result = try tape.read(&frame, tokenLimit: Limits.requestTokens) { document in
        do throws(Refusal) { return .success(try document.request()) } catch { return .failure(error) }
      }
    } catch {
      switch error {
      case .malformed: throw .malformed
      case .noMemory:
        throw .vault(
          .unavailable(store: .vault, reason: "no memory to read a request; try again"), oneway: false)
      }
    }
    var request = try result.get()
    // What is stored under this name will be asked for by it.
    if case .set(var set) = request.call {
      set.id = names.shared(set.id)
      request.call = .set(set)
    }
    return request
  }
}

extension Document {
  /// The call that this is. What it says of itself (`oneway`) is believed only once it could be read.
  fileprivate func request() throws(Refusal) -> Request {
    let outer: Fields
    let oneway: Bool
    let more: Bool
    do throws(Misfit) {
      outer = try fields(of: root, [.method, .parameters, .oneway, .more, .upgrade], others: .refused)
      oneway = try flag(.oneway, outer) ?? false
      more = try flag(.more, outer) ?? false
    } catch {
      throw error.refusal(oneway: false)
    }
    do throws(Misfit) {
      // The protocol of a connection can't be changed.
      guard try flag(.upgrade, outer) != true else { throw Misfit.field(.upgrade) }
      guard let name = try stringToken(.method, outer) else { throw Misfit.field(.method) }
      let method = try withBytes(at: name) { name throws(Misfit) in
        do throws(ServiceError) { return try Method.named(name) } catch { throw .service(error) }
      }
      let call = try call(method, try parameters(method, outer))
      if case .watch = call, !more { throw Misfit.service(.expectedMore) }
      return Request(call: call, oneway: oneway, more: more)
    } catch {
      throw error.refusal(oneway: oneway)
    }
  }

  private func parameters(_ method: Method, _ outer: Fields) throws(Misfit) -> Fields {
    guard let index = value(.parameters, outer) else { return Fields() }
    return try fields(of: index, method.parameters, others: .refused)
  }

  private func call(_ method: Method, _ given: Fields) throws(Misfit) -> Call {
    switch method {
    case .getInfo: .getInfo
    case .getInterfaceDescription: .getInterfaceDescription(interface: try interfaceName(given))
    case .get:
      .get(
        GetRequest(
          id: try entryID(given), minValidity: try duration(.minValidity, given),
          interactive: try flag(.interactive, given) ?? true))
    case .set: .set(try setRequest(given))
    case .clear: .clear(try entryID(given), ifVersion: try version(given))
    case .clearNamespace:
      .clearNamespace(try needed(.namespace, try namespace(given)), account: try account(given))
    case .list: .list(try namespace(given))
    case .touch: .touch(try entryID(given))
    case .watch: .watch(namespace: try namespace(given), key: try key(given))
    case .refresh:
      .refresh(
        try entryID(given), minValidity: try duration(.minValidity, given), wait: try duration(.wait, given))
    case .giveUp: .giveUp(lease: try needed(.lease, try lease(given)))
    case .initialise: .initialise(try neededSlotKey(given))
    case .lock: .lock
    case .unlock: .unlock(try slotKey(given))
    case .slots: .slots
    case .addSlot: .addSlot(try neededSlotKey(given))
    case .removeSlot: .removeSlot(try needed(.slot, try integer(.slot, given)))
    case .verify: .verify
    case .status: .status
    }
  }
}
