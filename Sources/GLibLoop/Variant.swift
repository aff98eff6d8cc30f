// Values as they go over the bus (GVariant): made from Swift's values, and read again without trust. A read
// that finds another type than it asks for gives nothing. Holds no plain secret where the session of the
// Secret Service is encrypted.

import CSecret

/// One value of D-Bus, immutable.
// A GVariant is immutable once it is no longer floating, and its count of references is atomic (GLib,
// "GVariant": "completely threadsafe"); it is referenced when this is made and released when it goes.
@safe public final class Variant: @unchecked Sendable {
  /// The GVariant, owned by this object.
  @unsafe public let pointer: OpaquePointer

  /// Takes over a value, floating or not.
  @unsafe public init(consuming value: OpaquePointer) {
    unsafe pointer = unsafe g_variant_take_ref(value)
  }

  deinit {
    unsafe g_variant_unref(pointer)
  }

  // MARK: Making

  /// A string.
  public static func string(_ text: String) -> Variant {
    unsafe Variant(consuming: g_variant_new_string(text))
  }

  /// A path of an object; `nil` where the text is none.
  public static func path(_ text: String) -> Variant? {
    guard unsafe g_variant_is_object_path(text) != 0 else { return nil }
    return unsafe Variant(consuming: g_variant_new_object_path(text))
  }

  /// A truth value.
  public static func boolean(_ value: Bool) -> Variant {
    unsafe Variant(consuming: g_variant_new_boolean(value ? 1 : 0))
  }

  /// An unsigned number of 32 bits.
  public static func uint32(_ value: UInt32) -> Variant {
    unsafe Variant(consuming: g_variant_new_uint32(value))
  }

  /// A box that holds any value.
  public static func box(_ value: Variant) -> Variant {
    unsafe Variant(consuming: g_variant_new_variant(value.pointer))
  }

  /// Several values in a row: the arguments of a call, or a structure.
  public static func tuple(_ values: [Variant]) -> Variant {
    let pointers: [OpaquePointer?] = unsafe values.map { unsafe $0.pointer }
    return withExtendedLifetime(values) {
      unsafe Variant(consuming: g_variant_new_tuple(pointers, gsize(pointers.count)))
    }
  }

  /// A list of objects' paths; what is no path is left out.
  public static func paths(_ texts: [String]) -> Variant {
    array(of: "o", texts.compactMap { path($0) })
  }

  /// A dictionary from strings to strings (`a{ss}`).
  public static func strings(_ entries: [String: String]) -> Variant {
    array(
      of: "{ss}",
      entries.sorted { $0.key < $1.key }.map { entry(string(entry: $0.key), string(entry: $0.value)) })
  }

  /// A dictionary from strings to anything (`a{sv}`).
  public static func properties(_ entries: [String: Variant]) -> Variant {
    array(of: "{sv}", entries.sorted { $0.key < $1.key }.map { entry(string(entry: $0.key), box($0.value)) })
  }

  private static func string(entry text: String) -> Variant { string(text) }

  private static func entry(_ key: Variant, _ value: Variant) -> Variant {
    unsafe Variant(consuming: g_variant_new_dict_entry(key.pointer, value.pointer))
  }

  private static func array(of type: StaticString, _ values: [Variant]) -> Variant {
    let pointers: [OpaquePointer?] = unsafe values.map { unsafe $0.pointer }
    return withExtendedLifetime(values) {
      unsafe Variant(
        consuming: g_variant_new_array(csecret_variant_type(type.utf8Start), pointers, gsize(pointers.count)))
    }
  }

  // MARK: Reading

  /// Its type, in D-Bus's letters.
  public var type: String { unsafe String(cString: g_variant_get_type_string(pointer)) }

  /// The text of a string or path.
  public var string: String? {
    guard type == "s" || type == "o" else { return nil }
    return unsafe String(cString: g_variant_get_string(pointer, nil))
  }

  /// A truth value.
  public var boolean: Bool? {
    type == "b" ? unsafe g_variant_get_boolean(pointer) != 0 : nil
  }

  /// A number of 32 or 64 bits; `nil` also where it is above `Int64.max`.
  public var integer: Int64? {
    switch type {
    case "t": unsafe Int64(exactly: g_variant_get_uint64(pointer))
    case "u": unsafe Int64(g_variant_get_uint32(pointer))
    case "x": unsafe Int64(g_variant_get_int64(pointer))
    case "i": unsafe Int64(g_variant_get_int32(pointer))
    default: nil
    }
  }

  /// The value in a box.
  public var unboxed: Variant? {
    type == "v" ? unsafe Variant(consuming: g_variant_get_variant(pointer)) : nil
  }

  /// The parts of a list, structure or dictionary entry; empty for anything else.
  public var parts: [Variant] {
    guard unsafe g_variant_is_container(pointer) != 0 else { return [] }
    return unsafe (0..<g_variant_n_children(pointer)).map { index in
      unsafe Variant(consuming: g_variant_get_child_value(pointer, index))
    }
  }

  /// The part at `index`; `nil` where there is none.
  public subscript(index: Int) -> Variant? {
    guard unsafe g_variant_is_container(pointer) != 0, index >= 0,
      unsafe gsize(index) < g_variant_n_children(pointer)
    else { return nil }
    return unsafe Variant(consuming: g_variant_get_child_value(pointer, gsize(index)))
  }

  /// The texts of a list of strings or paths; empty for anything else.
  public var texts: [String] {
    type == "as" || type == "ao" ? parts.compactMap(\.string) : []
  }

  /// A dictionary whose keys are strings or paths, values in boxes unboxed; empty for anything else. Of equal
  /// keys the last counts.
  public var entries: [(key: String, value: Variant)] {
    guard type.hasPrefix("a{s") || type.hasPrefix("a{o") else { return [] }
    return parts.compactMap { entry in
      guard let key = entry[0]?.string, let value = entry[1] else { return nil }
      return (key, value.unboxed ?? value)
    }
  }
}
