// The interface's text is a promise: the copy in the program is the file, and the methods and members that the
// text names are those that the daemon reads.

import Foundation
import Testing
import VaultModel

@testable import VaultWire

@Suite struct InterfaceTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/VaultWire/org.vaultd.Vault.varlink")

  @Test("the text that is served is the file, byte for byte")
  func text() throws {
    #expect(Array(VaultInterface.description.utf8) == Array(try Data(contentsOf: Self.file)))
  }

  @Test("the methods of both texts are those that are read, with the same parameters")
  func methods() throws {
    for (name, text) in [
      (VaultInterface.name, VaultInterface.description),
      (ServiceInterface.name, ServiceInterface.description),
    ] {
      let declared = try declarations("method", text)
      let read = Method.allCases.filter { $0.interface == name }
      #expect(Set(declared.keys) == Set(read.map(\.rawValue)))
      for method in read {
        let parameters = Set(
          Field.allCases.filter { method.parameters.member(named: $0.packedName) != nil }.map(\.name))
        #expect(parameters == declared[method.rawValue], "\(method.rawValue)")
      }
    }
  }

  @Test("the errors of both texts are the outcomes and the errors of the service")
  func errors() throws {
    let outcomes = Outcome.allCases.filter { $0 != .noDaemon }.map(\.rawValue)
    #expect(Set(try declarations("error", VaultInterface.description).keys) == Set(outcomes))
    for name in try declarations("error", ServiceInterface.description).keys {
      #expect(ServiceError.Name(rawValue: name) != nil, "\(name)")
    }
  }

  /// The names that `method` or `error` declares in a text, with the names of what stands in the first
  /// parentheses behind each.
  private func declarations(_ word: String, _ text: String) throws -> [String: Set<String>] {
    let plain = text.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("#") }
      .joined(separator: "\n")
    var declarations: [String: Set<String>] = [:]
    for match in plain.matches(
      of: try Regex("(?m)^\(word) (\\w+) ?\\(([^)]*)\\)", as: (Substring, Substring, Substring).self))
    {
      declarations[String(match.1)] = Set(
        match.2.matches(of: try Regex("(\\w+):", as: (Substring, Substring).self)).map { String($0.1) })
    }
    return declarations
  }

  @Test("no name of a member is too long to be found, and no two are the same")
  func names() {
    #expect(Field.allCases.allSatisfy { $0.packedName != 0 })
    #expect(Set(Field.allCases.map(\.packedName)).count == Field.allCases.count)
    #expect(Field.allCases.count <= 128)
    for method in Method.allCases {
      #expect(Field.allCases.filter { method.parameters.member(named: $0.packedName) != nil }.count <= 16)
    }
  }

  @Test("GetInfo and GetInterfaceDescription tell of both interfaces and of no other")
  func service() throws {
    #expect(ServiceInfo.vaultd.product == "vaultd")
    #expect(ServiceInfo.vaultd.version == productVersion)
    #expect(ServiceInfo.vaultd.interfaces == ["org.varlink.service", "org.vaultd.Vault"])
    for name in ServiceInfo.vaultd.interfaces {
      guard case .interfaceDescription(let text) = try Reply.description(of: name) else { continue }
      #expect(text.contains("\ninterface \(name)\n"))
    }
    #expect(throws: ServiceError.interfaceNotFound("org.example")) {
      try Reply.description(of: "org.example")
    }
  }
}
