// Objects as bytes and back: keyed archives, as the original stores them.

import Foundation

/// Keyed archives.
enum Archive {
  /// The archive of an object; `nil` where it cannot be archived.
  static func data(of object: any NSCoding) -> Data? {
    try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
  }

  /// The object in an archive; `nil` where the bytes are none, or are cut off. The vault returns what was stored, so
  /// what is left is an archive that a program broke on purpose: for some of these Foundation's reader ends the
  /// process, as it does on Apple's systems by an exception.
  static func object(in data: Data) -> (any NSCoding)? {
    guard (try? PropertyListDecoder().decode(Outline.self, from: data)) != nil,
      let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    defer { unarchiver.finishDecoding() }
    return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? any NSCoding
  }

  /// What every keyed archive says of itself. Read by a decoder that throws for what is no archive, before the
  /// unarchiver sees it, which does not always.
  private struct Outline: Decodable {
    enum CodingKeys: String, CodingKey {
      case archiver = "$archiver"
      case version = "$version"
    }

    let archiver: String
    let version: Int
  }
}
