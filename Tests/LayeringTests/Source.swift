// The Swift sources as the layering tests see them: lines of code, without comments and without what stands in
// quotes. Read once; a scan by bytes, since there are many.

import Foundation

/// A Swift file of the sources.
struct Source: Sendable {
  /// The folder under `Sources`, or `Sources/Examples`, that it is in.
  var module: String
  /// Its path under `Sources`.
  var path: String
  /// Its lines that hold code.
  var code: [String]
  /// The modules that it imports.
  var imports: Set<String>

  /// The project's folder.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// All of them.
  static let all: [Source] = {
    let folder = root + "/Sources"
    let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(".swift") }.map { path in
      Source(path: path, bytes: FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data())
    }
  }()

  private init(path: String, bytes: Data) {
    let text = String(decoding: Self.withoutCommentsAndText(Array(bytes)), as: UTF8.self)
    self.path = path
    let folders = path.split(separator: "/")
    module = String(folders[folders[0] == "Examples" ? 1 : 0])
    code = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    imports = Set(code.compactMap(Self.imported))
  }

  /// The module that a line imports.
  private static func imported(_ line: String) -> String? {
    var words = line.split(whereSeparator: { " .".contains($0) })
    while let first = words.first, first.hasPrefix("@") || ["public", "internal", "package"].contains(first) {
      words.removeFirst()
    }
    guard words.first == "import" else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "typealias", "var", "let"]
    return words.dropFirst().first { !kinds.contains($0) }.map(String.init)
  }

  /// Takes comments and the insides of quotes out of Swift code; line ends stay.
  private static func withoutCommentsAndText(_ bytes: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "\""), slash = UInt8(ascii: "/"), star = UInt8(ascii: "*")
    let back = UInt8(ascii: "\\"), end = UInt8(ascii: "\n")
    var kept: [UInt8] = []
    var index = 0
    func at(_ offset: Int) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }
    while index < bytes.count {
      if at(0) == slash, at(1) == slash {
        while index < bytes.count, at(0) != end { index += 1 }
      } else if at(0) == slash, at(1) == star {
        while index < bytes.count, !(at(0) == star && at(1) == slash) { index += 1 }
        index += 2
      } else if at(0) == quote {
        let length = at(1) == quote && at(2) == quote ? 3 : 1
        index += length
        while index < bytes.count, !(0..<length).allSatisfy({ at($0) == quote }) {
          index += at(0) == back ? 2 : 1
        }
        index += length
        kept += [quote, quote]
      } else {
        kept.append(at(0))
        index += 1
      }
    }
    return kept
  }
}
