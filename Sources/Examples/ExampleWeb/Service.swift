// HTTP for the examples: one request, one answer. Foundation's URLSession is in Swift's toolchain for Linux and brings
// its own curl and TLS, so that an example needs no package of Debian's; libcurl would be a C interface more to wrap
// for the same three calls. It copies what it sends into memory that nobody wipes, as every HTTP client does.

import Foundation
import FoundationNetworking

/// What a service answered.
public struct Answer: Sendable {
  /// The status of HTTP.
  public var status: Int
  /// The body.
  public var body: Data

  /// The value at a path through objects and arrays of the body; `nil` where the body is no JSON or has none.
  private func value(at path: [String]) -> Any? {
    path.reduce((try? JSONSerialization.jsonObject(with: body)) as Any?) { value, name in
      Int(name).map { (value as? [Any])?.dropFirst($0).first } ?? (value as? [String: Any])?[name]
    }
  }

  /// Text in the body, at this path: names of members, and numbers of elements.
  public func text(at path: String...) -> String? { value(at: path) as? String }

  /// A whole number in the body.
  public func integer(at path: String...) -> Int? { value(at: path) as? Int }

  /// Whether there is anything but null at this path.
  public func has(_ path: String...) -> Bool {
    guard let value = value(at: path) else { return false }
    return !(value is NSNull)
  }
}

/// A service at an address.
public struct Service: Sendable {
  private let address: URL

  /// The service that a variable of the environment names.
  public init(variable: String) throws(Ending) {
    guard let address = URL(string: try setting(variable)), address.scheme?.hasPrefix("http") == true else {
      throw Ending(2, "\(variable) is no address of a service")
    }
    self.address = address
  }

  /// Sends a request and waits for the answer, at most 20 s.
  /// - Throws: where none came.
  public func send(
    _ method: String, _ path: String = "", headers: [String: String] = [:], body: Data? = nil
  ) async throws(Unreachable) -> Answer {
    var request = URLRequest(url: path.isEmpty ? address : address.appendingPathComponent(path))
    request.httpMethod = method
    request.httpBody = body
    request.timeoutInterval = 20
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    do {
      let (data, response) = try await URLSession.shared.data(for: request)
      guard let response = response as? HTTPURLResponse else {
        throw Unreachable(reason: "no answer of HTTP")
      }
      return Answer(status: response.statusCode, body: data)
    } catch let error as Unreachable {
      throw error
    } catch {
      // The whole error may name the address with what is in it.
      throw Unreachable(reason: "error \((error as NSError).code) of the network")
    }
  }
}

/// No answer came from a service.
public struct Unreachable: Error {
  /// Why.
  public var reason: String
}
