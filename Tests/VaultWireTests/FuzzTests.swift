// Frames that are broken in every way: a reader refuses or reads, and never touches a byte that is not the
// frame's. Deterministic: the same frames in every run.

import Glibc
import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct FuzzTests {
  private static let requests = [
    #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"a.b","account":"é","minValidity":60},"more":false}"#,
    #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":"\ud83d\ude00\u0000x","idle":5,"label":"l"}}"#,
    #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secretBase64":"AAH/AA==","expires":4102444800}}"#,
    #"{"method":"org.vaultd.Vault.Init","parameters":{"keyFile":"/k","passphrase":null},"oneway":true}"#,
    #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.vaultd.Vault"}}"#,
    #"{"method":"org.vaultd.Vault.RemoveSlot","parameters":{"slot":-123456789012}, "upgrade" : null }"#,
  ]

  private static let replies = [
    #"{"parameters":{"secret":"t\n","entry":{"key":"a.b","account":"","version":12,"created":1,"modified":2,"#
      + #""expires":3,"untilLogout":false,"size":2,"store":"file","pending":false}},"continues":true}"#,
    #"{"error":"org.vaultd.Vault.Unavailable","parameters":{"store":"file","reason":"r","stored":9}}"#,
    #"{"parameters":{"version":"1","pid":7,"since":9,"preference":"auto","stores":[{"store":"file","#
      + #""state":"locked","detail":"d","entries":3,"pending":2}],"protections":{"a":true,"b":false}}}"#,
  ]

  @Test("mutated requests are read or refused")
  func mutatedRequests() {
    var random = Mutations(seed: 1)
    var reader = RequestReader()
    var read = 0
    for _ in 0..<20_000 {
      var frame = random.mutate(Array(Self.requests[random.below(Self.requests.count)].utf8))
      var bytes = frame.mutableSpan
      if (try? reader.read(&bytes)) != nil { read += 1 }
    }
    // Enough of them get through the parser to say something of what is behind it.
    #expect(read > 500)
  }

  @Test("mutated replies are read or refused, as answers to every call")
  func mutatedReplies() throws {
    let id = EntryID(try Key("a.b"))
    let calls: [Call] = [
      .getInfo, .get(GetRequest(id: id)), .touch(id), .list(nil), .status, .slots, .verify,
      .watch(namespace: nil, key: nil), .refresh(id, minValidity: nil, wait: nil), .clear(id, ifVersion: nil),
    ]
    var random = Mutations(seed: 2)
    var reader = ReplyReader()
    for _ in 0..<10_000 {
      var frame = random.mutate(Array(Self.replies[random.below(Self.replies.count)].utf8))
      var bytes = frame.mutableSpan
      _ = try? reader.read(&bytes, to: calls[random.below(calls.count)])
    }
  }

  @Test("a frame that breaks off anywhere is refused, and no byte behind it is read or written")
  func truncated() throws {
    let page = 4_096
    var guarded = try GuardedPage(size: page)
    var reader = RequestReader()
    let tails =
      Self.requests.map { Array($0.utf8) } + [
        Array(#"{"method":"\u12"#.utf8), Array(#"{"method":"\ud83d\u"#.utf8),
        Array(#"{"method":""#.utf8) + [0xF0],
        Array(#"{"method":""#.utf8) + [0xE2, 0x82], Array(#"{"method":""#.utf8) + [0xC3],
        Array(#"{"method":"\"#.utf8), Array(#"{"a":-"#.utf8), Array(#"{"a":1."#.utf8),
        Array(#"{"a":1e"#.utf8),
        Array(#"{"a":tru"#.utf8), Array(#"{"a":nul"#.utf8), Array(#"{"a":fals"#.utf8),
      ]
    for tail in tails {
      for count in 0..<tail.count {
        let frame = Array(tail.prefix(count))
        let taken = guarded.withTail(frame) { bytes in (try? reader.read(&bytes)) != nil }
        #expect(!taken, "\(String(decoding: frame, as: UTF8.self))")
      }
    }
    // The whole frames are read there too.
    for frame in Self.requests {
      let whole = guarded.withTail(Array(frame.utf8)) { bytes in
        do throws(Refusal) {
          _ = try reader.read(&bytes)
          return true
        } catch {
          guard case .malformed = error else { return true }
          return false
        }
      }
      #expect(whole, "\(frame)")
    }
  }
}

/// A small generator (xorshift) of breaks in frames.
struct Mutations {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  mutating func below(_ limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % limit
  }

  /// One to three changes: a byte put in, taken out, replaced or doubled, a piece moved, the end cut off.
  mutating func mutate(_ frame: [UInt8]) -> [UInt8] {
    let special: [UInt8] = [
      0, 0x22, 0x5C, 0x7B, 0x7D, 0x5B, 0x5D, 0x2C, 0x3A, 0x2D, 0x2E, 0x30, 0x39, 0x65, 0x75, 0x6E, 0x80, 0xC3,
      0xED, 0xF4, 0xFF, 0x20,
    ]
    var frame = frame
    for _ in 0...below(3) where !frame.isEmpty {
      let place = below(frame.count)
      switch below(6) {
      case 0: frame.insert(special[below(special.count)], at: place)
      case 1: frame.remove(at: place)
      case 2: frame[place] = special[below(special.count)]
      case 3: frame[place] = UInt8(below(256))
      case 4:
        let end = min(frame.count, place + below(20))
        frame.insert(contentsOf: frame[place..<end], at: below(frame.count))
      default: if below(10) == 0 { frame.removeLast(frame.count - place) }
      }
    }
    return frame
  }
}

/// A page with one behind it that cannot be touched.
@safe struct GuardedPage: ~Copyable {
  private let start: UnsafeMutableRawPointer
  private let size: Int

  init(size: Int) throws {
    let both = unsafe mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let both = unsafe both, unsafe both != MAP_FAILED,
      unsafe mprotect(both + size, size, PROT_NONE) == 0
    else { throw UnfinishedFrame() }
    unsafe start = unsafe both
    self.size = size
  }

  deinit { unsafe munmap(start, 2 * size) }

  /// Lends `frame` as the last bytes of the page.
  mutating func withTail<Result>(_ frame: [UInt8], _ body: (inout MutableSpan<UInt8>) -> Result) -> Result {
    let tail = unsafe UnsafeMutableBufferPointer(
      start: (start + (size - frame.count)).assumingMemoryBound(to: UInt8.self), count: frame.count)
    _ = unsafe tail.update(fromContentsOf: frame)
    var bytes = unsafe MutableSpan(_unsafeElements: tail)
    return body(&bytes)
  }
}
