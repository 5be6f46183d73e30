import Foundation

/// What the server does on paths under `/-/`: the ways in which a server can misbehave.
///
/// - `/-/status/404`, `/-/status/304-body`: that status, with a body.
/// - `/-/stall/before`, `/-/stall/headers`, `/-/stall/after`, `/-/stall/body`: nothing more comes from there on.
/// - `/-/drip`: a byte every few milliseconds, without end in sight.
/// - `/-/short`, `/-/reset`, `/-/reset/body`, `/-/close`: the connection ends too early.
/// - `/-/lengths/10,11`, `/-/length/9223372036854775807`: these lengths are announced for a body of 10 bytes.
/// - `/-/both`: length and chunks at once. `/-/unframed`: neither.
/// - `/-/chunked`, `/-/chunked/cut`, `/-/chunked/bad`, `/-/chunked/no-end`, `/-/chunked/endless`.
/// - `/-/endless`: a body without end. `/-/redirect/loop`, `/-/redirect/chain/3`, `/-/redirect/to?file:///etc/passwd`.
/// - `/-/gzip`: an encoded body. `/-/partial`: 206. `/-/headers/20000`, `/-/header-bytes/1000000`.
/// - `/-/garbage`, `/-/http09`, `/-/folded`, `/-/nul`, `/-/interim/1000`, `/-/unasked`: odd HTTP.
/// - `/-/cookie`: sets a cookie. `/-/echo`: the header fields of the request, one a line.
/// - `/-/with?Cache-Control:max-age=60&ETag:"a"`: these fields, and 304 for who has that entity tag.
struct LoopbackScript {
  /// How an answer ended.
  enum Outcome {
    case keepAlive
    case close
    case clientLeft
  }

  let request: LoopbackServer.Request
  let address: String

  func run(on socket: LoopbackSocket) -> Outcome {
    let words = request.target.prefix { $0 != "?" }.split(separator: "/").dropFirst().map(String.init)
    let name = words.first ?? ""
    let argument = words.dropFirst().joined(separator: "/")
    switch name {
    case "status": return status(argument, on: socket)
    case "stall": return stall(argument, on: socket)
    case "redirect": return redirect(argument, on: socket)
    case "chunked": return chunked(argument, on: socket)
    case "drip": return drip(on: socket)
    case "endless": return endless("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", filler, on: socket)
    case "interim": return interim(Int(argument) ?? 1, on: socket)
    case "reset":
      if argument == "body" { _ = socket.send("\(ok)Content-Length: 100\r\n\r\npart") }
      socket.resetOnClose()
      return .close
    case "echo":
      let lines = request.headers.map { "\($0.key): \($0.value)\n" }.sorted().joined()
      return socket.send(body: Data(lines.utf8))
    case "with": return withFields(on: socket)
    default: return plain(name, argument, on: socket)
    }
  }

  private func withFields(on socket: LoopbackSocket) -> Outcome {
    let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    let fields = query.split(separator: "&").map { String($0).removingPercentEncoding ?? "" }.filter {
      $0.contains(":")
    }
    let lines = fields.map { "\($0)\r\n" }.joined()
    let tag = fields.first { $0.hasPrefix("ETag:") }?.dropFirst(5)
    if let tag, request.headers["if-none-match"].map({ $0.contains(tag) }) == true {
      return socket.send("HTTP/1.1 304 Not Modified\r\n\(lines)\r\n") ? .keepAlive : .clientLeft
    }
    let body = "the content\n"
    return socket.send("\(ok)\(lines)Content-Length: \(body.utf8.count)\r\n\r\n\(body)") ? .keepAlive : .clientLeft
  }

  private let ok = "HTTP/1.1 200 OK\r\n"
  private let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)

  /// Answers that are one text.
  private func plain(_ name: String, _ argument: String, on socket: LoopbackSocket) -> Outcome {
    let text: String? =
      switch name {
      case "short": "\(ok)Content-Length: 100\r\n\r\nonly this"
      case "close": ""
      case "lengths":
        ok + argument.split(separator: ",").map { "Content-Length: \($0)\r\n" }.joined() + "\r\n0123456789"
      case "length": "\(ok)Content-Length: \(argument)\r\n\r\n0123456789"
      case "both": "\(ok)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
      case "unframed": "\(ok)\r\nthe body ends where the connection ends"
      case "gzip": "\(ok)Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n0123456789"
      case "partial":
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 4\r\n\r\n0123"
      case "headers":
        ok + (0..<(Int(argument) ?? 0)).map { "X-\($0): y\r\n" }.joined() + "Content-Length: 4\r\n\r\nbody"
      case "header-bytes":
        "\(ok)X: \(String(repeating: "y", count: Int(argument) ?? 0))\r\nContent-Length: 4\r\n\r\nbody"
      case "garbage": "\u{1B}]0;this is no HTTP\u{7}\r\n\r\n"
      case "http09": "just a body"
      case "folded": "\(ok)X-A: one\r\n two\r\nContent-Length: 4\r\n\r\nbody"
      case "nul": "\(ok)X-A: o\u{0}ne\r\nContent-Length: 4\r\n\r\nbody"
      case "unasked":
        "\(ok)Content-Length: 5\r\n\r\nasked\(ok)Content-Length: 7\r\n\r\nunasked"
      case "cookie": "\(ok)Set-Cookie: a=b; Path=/\r\nContent-Length: 4\r\n\r\nbody"
      default: nil
      }
    guard let text else { return socket.send(status: 404, body: Data("no such script\n".utf8)) }
    guard socket.send(text) else { return .clientLeft }
    return ["unasked", "cookie"].contains(name) ? .keepAlive : .close
  }

  private func status(_ argument: String, on socket: LoopbackSocket) -> Outcome {
    let number = argument.prefix { $0 != "-" }
    let body = ["204", "304"].contains(argument) ? "" : "an error's body"
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    guard socket.send("HTTP/1.1 \(number) Scripted\r\n\(length)\r\n\(body)") else { return .clientLeft }
    return argument == number ? .keepAlive : .close
  }

  private func stall(_ place: String, on socket: LoopbackSocket) -> Outcome {
    let sent: String =
      switch place {
      case "before": ""
      case "headers": "\(ok)Content-Le"
      case "after": "\(ok)Content-Length: 100\r\n\r\n"
      default: "\(ok)Content-Length: 100\r\n\r\nthe beginning"
      }
    _ = socket.send(sent)
    socket.waitUntilClientLeaves()
    return .clientLeft
  }

  private func drip(on socket: LoopbackSocket) -> Outcome {
    guard socket.send("\(ok)Content-Length: 1000000\r\n\r\n") else { return .clientLeft }
    while !socket.hasClientLeft(within: .milliseconds(5)) {
      if !socket.send("x") { break }
    }
    return .clientLeft
  }

  private func endless(_ head: String, _ part: [UInt8], on socket: LoopbackSocket) -> Outcome {
    guard socket.send(head) else { return .clientLeft }
    while socket.write(part) {}
    return .clientLeft
  }

  private func interim(_ count: Int, on socket: LoopbackSocket) -> Outcome {
    for _ in 0..<count where !socket.send("HTTP/1.1 100 Continue\r\nX-Wait: yes\r\n\r\n") { return .clientLeft }
    return socket.send("\(ok)Content-Length: 4\r\n\r\nbody") ? .keepAlive : .clientLeft
  }

  private func redirect(_ argument: String, on socket: LoopbackSocket) -> Outcome {
    let location: String
    if argument == "to" {
      location = request.target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
    } else if argument == "loop" {
      location = "/-/redirect/loop"
    } else {
      let left = argument.split(separator: "/").last.flatMap { Int($0) } ?? 0
      location = left > 1 ? "\(address)/-/redirect/chain/\(left - 1)" : "/-/echo"
    }
    return socket.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
      ? .keepAlive : .clientLeft
  }

  private func chunked(_ argument: String, on socket: LoopbackSocket) -> Outcome {
    let head = "\(ok)Transfer-Encoding: chunked\r\n\r\n"
    switch argument {
    case "cut": return socket.send("\(head)a\r\n0123") ? .close : .clientLeft
    case "bad": return socket.send("\(head)zz\r\n0123456789\r\n0\r\n\r\n") ? .close : .clientLeft
    case "no-end": return socket.send("\(head)a\r\n0123456789\r\n") ? .close : .clientLeft
    case "endless": return endless(head, Array("10000\r\n".utf8) + filler + Array("\r\n".utf8), on: socket)
    default: return socket.send("\(head)5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n") ? .keepAlive : .clientLeft
    }
  }
}
