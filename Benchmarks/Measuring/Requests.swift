// Requests as bytes: calls of org.vaultd.Vault as they go over the socket, and Redis commands. Written by
// hand, so that what is measured is the daemon and no client of ours.

import Foundation

/// A list of requests that the load sends in this order.
package struct Requests {
  package private(set) var frames: [String]

  /// The name of entry `number`.
  package static func key(_ number: Int, in namespace: String = "Bench") -> String {
    "\(namespace).\(name(number))"
  }

  /// The same without its namespace.
  package static func name(_ number: Int) -> String {
    let digits = String(number)
    return "k" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// A token of the usual kind: 34 characters.
  package static func token(_ number: Int) -> String {
    let digits = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
    return "r:" + String(repeating: "0", count: 32 - digits.count) + digits
  }

  /// One call with its parameters as JSON.
  package static func call(_ method: String, _ parameters: String) -> Requests {
    Requests(frames: [frame(method, parameters)])
  }

  /// Asks for each of `count` entries, in no order.
  package static func gets(of count: Int) -> Requests {
    Requests(frames: numbers(count).map { frame("Get", #"{"key":"\#(key($0))"}"#) })
  }

  /// The same requests again and again.
  package func repeated(_ times: Int) -> Requests {
    Requests(frames: Array([[String]](repeating: frames, count: times).joined()))
  }

  /// Sets each of `count` entries, in no order; at least 1,000 requests, each with another token.
  package static func sets(of count: Int) -> Requests {
    let rounds = max(1, 1_000 / count)
    let frames = (0..<rounds).flatMap { round in
      numbers(count).map { number in
        let parameters = #"{"key":"\#(key(number))","secret":"\#(token(number + round * count))"}"#
        return frame("Set", parameters)
      }
    }
    return Requests(frames: frames)
  }

  /// Sets the entries of these numbers once, in this order.
  package static func sets(_ numbers: Range<Int>, in namespace: String = "Bench") -> Requests {
    Requests(
      frames: numbers.map {
        frame("Set", #"{"key":"\#(key($0, in: namespace))","secret":"\#(token($0))"}"#)
      })
  }

  /// What programs ask in the course of an hour: `count` requests, for 100 entries that are there; most read, some
  /// write, and now and then somebody asks for something else.
  package static func mixed(_ count: Int) -> Requests {
    let frames = (0..<count).map { number in
      let key = key(number * 37 % 100)
      switch number % 50 {
      case 0...3: return frame("Set", #"{"key":"\#(key)","secret":"\#(token(number))"}"#)
      case 4, 5: return frame("Touch", #"{"key":"\#(key)"}"#)
      case 6: return frame("Set", #"{"key":"Bench.gone","secret":"\#(token(number))"}"#)
      case 7: return frame("Clear", #"{"key":"Bench.gone"}"#)
      case 8: return frame("List", #"{"namespace":"Bench"}"#)
      case 9: return frame("Status", "{}")
      default: return frame("Get", #"{"key":"\#(key)"}"#)
      }
    }
    return Requests(frames: frames)
  }

  /// Redis: sets each of `count` keys.
  package static func redisSets(of count: Int) -> Requests {
    Requests(frames: numbers(count).map { resp(["SET", key($0), token($0)]) })
  }

  /// Redis: asks for each of `count` keys.
  package static func redisGets(of count: Int) -> Requests {
    Requests(frames: numbers(count).map { resp(["GET", key($0)]) })
  }

  /// The file that the load reads.
  package func write(to path: String) throws {
    var data = Data()
    for frame in frames {
      var count = UInt32(frame.utf8.count)
      for _ in 0..<4 {
        data.append(UInt8(truncatingIfNeeded: count))
        count >>= 8
      }
      data.append(contentsOf: frame.utf8)
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// A call without the NUL that ends it.
  package static func text(_ method: String, _ parameters: String) -> String {
    #"{"method":"org.vaultd.Vault.\#(method)","parameters":\#(parameters)}"#
  }

  private static func frame(_ method: String, _ parameters: String) -> String {
    text(method, parameters) + "\0"
  }

  private static func resp(_ words: [String]) -> String {
    "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
  }

  /// 0 to `count` - 1 in an order that is the same in every run.
  private static func numbers(_ count: Int) -> [Int] {
    // A step that shares no factor with the count comes by every number once.
    var step = count * 5 / 8 | 1
    while greatestCommonFactor(step, count) != 1 { step += 2 }
    return (0..<count).map { $0 * step % count }
  }

  private static func greatestCommonFactor(_ one: Int, _ other: Int) -> Int {
    other == 0 ? one : greatestCommonFactor(other, one % other)
  }
}
