// The names of all members that a frame can have, requests, replies and errors together, and sets of them.
// `Document` finds a member's name among those that an object may have here; a name that is not here is
// unknown everywhere. Writers spell names out in their literals; round trips hold the two together.

/// A member of an object on the wire; the name of the case is the name of the member.
enum Field: Int, CodingKey, CaseIterable {
  // Of a call and of a reply.
  case method, parameters, oneway, more, upgrade, error, continues
  // Of parameters.
  case key, account, minValidity, interactive, secret, secretBase64, expires, expiresIn, idle, untilLogout
  case label, ifVersion, lease, namespace, wait, passphrase, keyFile, credential, slot, interface
  // Of replies, and of what is in them.
  case entry, entries, cleared, pending, event, version, store, slots, records, damaged, sound
  case created, modified, size, state, detail, kind
  case pid, since, preference, stores, protections
  case vendor, product, url, interfaces, description
  // Of errors.
  case argument, reason, expired, stored, found, supported, limit, parameter
  // Of the claims of a JWT, which is read by the same means.
  case exp

  /// The name of the member.
  var name: String { stringValue }

  /// A name of at most 15 bytes and its length in one number, so that comparing two is comparing numbers.
  var packedName: UInt128 { Self.packedNames[rawValue] }

  private static let packedNames = allCases.map { pack($0.name.utf8.span) }

  /// Packs a name; 0, which is no name of ours, where it is too long to be one.
  static func pack(_ name: Span<UInt8>) -> UInt128 {
    guard name.count <= 15 else { return 0 }
    var packed = UInt128(name.count)
    for index in name.indices { packed = packed << 8 | UInt128(name[index]) }
    return packed
  }
}

/// A set of members: what an object may have.
struct FieldSet: ExpressibleByArrayLiteral {
  private(set) var bits: UInt128

  init(arrayLiteral fields: Field...) {
    bits = 0
    for field in fields { bits |= 1 << UInt128(field.rawValue) }
  }

  /// The member of the set whose packed name is this one.
  func member(named packed: UInt128) -> Field? {
    var rest = bits
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      if let field = Field(rawValue: index), field.packedName == packed { return field }
      rest &= rest - 1
    }
    return nil
  }
}

/// Where the values of an object's members stand on the tape.
struct Fields {
  /// A member and the token of its value.
  private struct Place {
    var field: Field
    var token: Int32
  }

  /// The members that are there. No object has more than 16 that are known.
  private var places = InlineArray<16, Place>(repeating: Place(field: .method, token: 0))
  private var count = 0

  /// The token of a member's value; `nil` where there is no such member.
  subscript(field: Field) -> Int? {
    for index in 0..<count where places[index].field.rawValue == field.rawValue {
      return Int(places[index].token)
    }
    return nil
  }

  /// Adds a member that is not there yet.
  mutating func add(_ field: Field, token: Int) {
    guard count < places.count else { return }
    places[count] = Place(field: field, token: Int32(truncatingIfNeeded: token))
    count += 1
  }
}
