// A frame that was read as JSON: tokens over the bytes. `RequestReader` and `ReplyReader` take typed values
// out of it. It is lent for the length of one call and cannot be copied, so it never outlives the frame.
// The one place in this module that touches C and addresses; every access is checked against the frame.

import CJSON
import SecretMemory
import VaultModel

/// The memory in which frames are read; used again for every frame. Holds places in a frame and none of its
/// bytes.
@safe struct Tape: ~Copyable {
  private var reader: OpaquePointer?

  /// A tape without memory yet.
  init() {}

  deinit { unsafe cjson_free(reader) }

  /// Why there is no document.
  enum Failure: Error {
    case malformed, noMemory
  }

  /// Reads `frame` in place, which must be one JSON object within the limits, and lends the document to `body`.
  mutating func read<Result>(
    _ frame: inout MutableSpan<UInt8>, tokenLimit: Int, _ body: (borrowing Document) -> Result
  ) throws(Failure) -> Result {
    if unsafe reader == nil { unsafe reader = unsafe cjson_new() }
    guard let reader = unsafe reader else { throw .noMemory }
    let outcome = unsafe frame.withUnsafeMutableBufferPointer { bytes in
      unsafe cjson_read(
        reader, bytes.baseAddress, bytes.count, UInt32(Limits.nesting), UInt32(tokenLimit))
    }
    switch outcome {
    case CJSON_READ: break
    case CJSON_NO_MEMORY: throw .noMemory
    default: throw .malformed
    }
    var count = 0
    guard let tokens = unsafe cjson_tape(reader, &count), count > 0,
      unsafe Int(tokens[0].kind) == CJSON_OBJECT
    else { throw .malformed }
    return unsafe frame.withUnsafeMutableBufferPointer { bytes in
      let document = unsafe Document(
        tokens: UnsafeBufferPointer(start: tokens, count: count), bytes: UnsafeBufferPointer(bytes))
      return body(document)
    }
  }
}

/// Tokens over the bytes of one frame.
@safe struct Document: ~Copyable {
  private let tokens: UnsafeBufferPointer<cjson_token>
  private let bytes: UnsafeBufferPointer<UInt8>

  fileprivate init(tokens: UnsafeBufferPointer<cjson_token>, bytes: UnsafeBufferPointer<UInt8>) {
    unsafe self.tokens = tokens
    unsafe self.bytes = bytes
  }

  /// The outermost object.
  var root: Int { 0 }

  private func token(_ index: Int) -> cjson_token {
    unsafe precondition(index >= 0 && index < tokens.count)
    return unsafe tokens[index]
  }

  private func kind(_ index: Int) -> Int { Int(token(index).kind) }

  /// The token behind the value at `index`.
  private func next(_ index: Int) -> Int {
    let token = token(index)
    return Int(token.kind) == CJSON_OBJECT || Int(token.kind) == CJSON_ARRAY ? Int(token.place) : index + 1
  }

  /// Lends the bytes of a string or a number.
  func withBytes<Result, Failure: Error>(
    at index: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let token = token(index)
    let range = Int(token.place)..<Int(token.place) + Int(token.count)
    unsafe precondition(range.upperBound <= bytes.count)
    return try body(unsafe Span(_unsafeElements: bytes).extracting(range))
  }

  // MARK: Objects and arrays

  /// What becomes of members that nobody asked for.
  enum Others {
    /// In requests: what we would ignore, a caller might rely on.
    case refused
    /// In replies: a newer daemon may tell more than we know.
    case ignored
  }

  /// Finds the members of the object at `index` that are in `known`.
  /// - Throws: `.parameter` where there is no object, for a member that is given twice, and, unless `others` is
  ///   `.ignored`, for any other member.
  func fields(of index: Int, _ known: FieldSet, others: Others) throws(Misfit) -> Fields {
    guard kind(index) == CJSON_OBJECT else { throw .field(.parameters) }
    var fields = Fields()
    var name = index + 1
    for _ in 0..<Int(token(index).count) {
      let packed = withBytes(at: name) { Field.pack($0) }
      if let field = known.member(named: packed) {
        guard fields[field] == nil else { throw .field(field) }
        fields.add(field, token: name + 1)
      } else if others == .refused {
        throw .parameter(withBytes(at: name) { PlainName.field($0) })
      }
      name = next(name + 1)
    }
    return fields
  }

  /// What `body` makes of each element of the array that `field` is.
  func elements<Element>(
    _ field: Field, _ fields: Fields, _ body: (Int) throws(Misfit) -> Element
  ) throws(Misfit) -> [Element] {
    guard let index = value(field, fields), kind(index) == CJSON_ARRAY else { throw .field(field) }
    var elements: [Element] = []
    elements.reserveCapacity(Int(token(index).count))
    var element = index + 1
    for _ in 0..<Int(token(index).count) {
      elements.append(try body(element))
      element = next(element)
    }
    return elements
  }

  /// Names and values of the object that `field` is, where all values are booleans.
  func flags(_ field: Field, _ fields: Fields) throws(Misfit) -> [String: Bool] {
    guard let index = value(field, fields), kind(index) == CJSON_OBJECT else { throw .field(field) }
    var flags: [String: Bool] = [:]
    for member in 0..<Int(token(index).count) {
      let name = index + 1 + 2 * member
      flags[string(name)] = try boolean(name + 1, field)
    }
    return flags
  }

  // MARK: Values; absent and null mean the same

  /// The token of a member's value; `nil` where it is absent or null.
  func value(_ field: Field, _ fields: Fields) -> Int? {
    guard let index = fields[field], kind(index) != CJSON_NULL else { return nil }
    return index
  }

  /// Whether a member is given.
  func has(_ field: Field, _ fields: Fields) -> Bool { value(field, fields) != nil }

  /// The token of a member that is a string.
  func stringToken(_ field: Field, _ fields: Fields) throws(Misfit) -> Int? {
    guard let index = value(field, fields) else { return nil }
    guard kind(index) == CJSON_STRING else { throw .field(field) }
    return index
  }

  /// The token of a member that is a number; here null is none.
  func numberToken(_ field: Field, _ fields: Fields) throws(Misfit) -> Int? {
    guard let index = fields[field] else { return nil }
    guard kind(index) == CJSON_NUMBER else { throw .field(field) }
    return index
  }

  /// A string.
  func text(_ field: Field, _ fields: Fields) throws(Misfit) -> String? {
    guard let index = try stringToken(field, fields) else { return nil }
    return string(index)
  }

  /// The string at `index`, an element of the array that `field` is.
  func text(at index: Int, _ field: Field) throws(Misfit) -> String {
    guard kind(index) == CJSON_STRING else { throw .field(field) }
    return string(index)
  }

  /// A boolean.
  func flag(_ field: Field, _ fields: Fields) throws(Misfit) -> Bool? {
    guard let index = value(field, fields) else { return nil }
    return try boolean(index, field)
  }

  private func boolean(_ index: Int, _ field: Field) throws(Misfit) -> Bool {
    switch kind(index) {
    case CJSON_TRUE: true
    case CJSON_FALSE: false
    default: throw .field(field)
    }
  }

  /// An integer. A number with a fraction or an exponent is of another type, whatever its value.
  /// - Throws: `.value` for an integer that has no room in 64 bits.
  func integer(_ field: Field, _ fields: Fields) throws(Misfit) -> Int64? {
    guard let index = value(field, fields) else { return nil }
    guard kind(index) == CJSON_NUMBER else { throw .field(field) }
    return try withBytes(at: index) { digits throws(Misfit) in
      // By the grammar of JSON: an optional minus, then digits, then a fraction or an exponent or nothing.
      let negative = digits[0] == UInt8(ascii: "-")
      var value: Int64 = 0
      var fits = true
      for place in (negative ? 1 : 0)..<digits.count {
        let digit = Int64(digits[place]) - 0x30
        guard (0...9).contains(digit) else { throw .field(field) }
        let (tens, over) = value.multipliedReportingOverflow(by: 10)
        let (sum, overToo) = tens.addingReportingOverflow(negative ? -digit : digit)
        value = sum
        fits = fits && !over && !overToo
      }
      guard fits else {
        throw .value(.invalidArgument(argument: field.name, reason: "does not fit in 64 bits"))
      }
      return value
    }
  }

  /// The text of a string, which the reader has checked to be UTF-8.
  func string(_ index: Int) -> String {
    withBytes(at: index) { $0.text }
  }
}

extension Span<UInt8> {
  /// The text that these bytes are; they are known to be UTF-8.
  var text: String {
    unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
