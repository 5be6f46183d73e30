#if Proxy && (os(Linux) || os(macOS))
import CacheEngineNetwork
import Foundation
import NIOCore

/// Certificates for servers of tests, made by `openssl`, which go with the process.
final class TestAuthority: Sendable {
  enum Kind: String, CaseIterable {
    case valid
    case expired
    case otherHost
    case unknownAuthority
  }

  static let shared = Result { try TestAuthority() }

  /// Why there can be none here; `nil` if there can.
  static let whyNot: String? = {
    if TLSLibrary.shared == nil { return "libcurl does not bring OpenSSL's libssl into the process" }
    do { return try shell("openssl version") ? nil : "the program openssl is not installed" } catch {
      return "\(error)"
    }
  }()

  private static let folder = FileManager.default.temporaryDirectory.appending(path: "secure-\(UUID().uuidString)")

  /// The file of those to trust.
  let file: String

  private init() throws {
    let there = Self.folder.path
    file = "\(there)/trusted.pem"
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: TestAuthority.folder) }
    let request = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    var lines = ["set -e", "cd \(there)"]
    for name in ["trusted", "unknown"] {
      lines.append("\(request) -x509 -days 2 -subj /CN=\(name) -keyout \(name).key -out \(name).pem")
    }
    for kind in Kind.allCases {
      let host = kind == .otherHost ? "DNS:elsewhere.example" : "IP:127.0.0.1,DNS:localhost"
      let signer = kind == .unknownAuthority ? "unknown" : "trusted"
      lines += [
        "echo subjectAltName=\(host) > \(kind).ext",
        "\(request) -new -subj /CN=server -keyout \(kind).key -out \(kind).csr",
        "openssl x509 -req -in \(kind).csr -CA \(signer).pem -CAkey \(signer).key -CAcreateserial "
          + "-days \(kind == .expired ? -1 : 2) -extfile \(kind).ext -out \(kind).pem",
      ]
    }
    guard try Self.shell(lines.joined(separator: "\n")) else { throw CocoaError(.executableLoad) }
  }

  /// What a server shows and can prove.
  func identity(_ kind: Kind = .valid) throws -> TLSIdentity {
    let there = Self.folder.path
    return try TLSIdentity(certificate: "\(there)/\(kind).pem", key: "\(there)/\(kind).key")
  }

  private static func shell(_ script: String) throws -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

/// The libssl that libcurl has brought into the process.
@safe struct TLSLibrary: @unchecked Sendable {  // functions of a library that stays
  typealias Pointer = UnsafeMutableRawPointer

  static let shared = TLSLibrary()

  let newContext: @convention(c) (Pointer?) -> Pointer?
  let serverMethod: @convention(c) () -> Pointer?
  let useChain: @convention(c) (Pointer?, UnsafePointer<CChar>?) -> Int32
  let useKey: @convention(c) (Pointer?, UnsafePointer<CChar>?, Int32) -> Int32
  let freeContext: @convention(c) (Pointer?) -> Void
  let new: @convention(c) (Pointer?) -> Pointer?
  let free: @convention(c) (Pointer?) -> Void
  let setAccept: @convention(c) (Pointer?) -> Void
  let setBIO: @convention(c) (Pointer?, Pointer?, Pointer?) -> Void
  let read: @convention(c) (Pointer?, Pointer?, Int32) -> Int32
  let write: @convention(c) (Pointer?, UnsafeRawPointer?, Int32) -> Int32
  let shutdown: @convention(c) (Pointer?) -> Int32
  let error: @convention(c) (Pointer?, Int32) -> Int32
  let clearErrors: @convention(c) () -> Void
  let newBIO: @convention(c) (Pointer?) -> Pointer?
  let memoryBIO: @convention(c) () -> Pointer?
  let readBIO: @convention(c) (Pointer?, Pointer?, Int32) -> Int32
  let writeBIO: @convention(c) (Pointer?, UnsafeRawPointer?, Int32) -> Int32

  private init?() {
    let process = unsafe dlopen(nil, RTLD_NOW)
    func find<Function>(_ name: String) -> Function? {
      unsafe dlsym(process, name).map { unsafe unsafeBitCast($0, to: Function.self) }
    }
    guard let newContext: @convention(c) (Pointer?) -> Pointer? = unsafe find("SSL_CTX_new"),
      let serverMethod: @convention(c) () -> Pointer? = unsafe find("TLS_server_method"),
      let useChain: @convention(c) (Pointer?, UnsafePointer<CChar>?) -> Int32 = unsafe find(
        "SSL_CTX_use_certificate_chain_file"),
      let useKey: @convention(c) (Pointer?, UnsafePointer<CChar>?, Int32) -> Int32 = unsafe find(
        "SSL_CTX_use_PrivateKey_file"),
      let freeContext: @convention(c) (Pointer?) -> Void = unsafe find("SSL_CTX_free"),
      let new: @convention(c) (Pointer?) -> Pointer? = unsafe find("SSL_new"),
      let free: @convention(c) (Pointer?) -> Void = unsafe find("SSL_free"),
      let setAccept: @convention(c) (Pointer?) -> Void = unsafe find("SSL_set_accept_state"),
      let setBIO: @convention(c) (Pointer?, Pointer?, Pointer?) -> Void = unsafe find("SSL_set_bio"),
      let read: @convention(c) (Pointer?, Pointer?, Int32) -> Int32 = unsafe find("SSL_read"),
      let write: @convention(c) (Pointer?, UnsafeRawPointer?, Int32) -> Int32 = unsafe find("SSL_write"),
      let shutdown: @convention(c) (Pointer?) -> Int32 = unsafe find("SSL_shutdown"),
      let error: @convention(c) (Pointer?, Int32) -> Int32 = unsafe find("SSL_get_error"),
      let clearErrors: @convention(c) () -> Void = find("ERR_clear_error"),
      let newBIO: @convention(c) (Pointer?) -> Pointer? = unsafe find("BIO_new"),
      let memoryBIO: @convention(c) () -> Pointer? = unsafe find("BIO_s_mem"),
      let readBIO: @convention(c) (Pointer?, Pointer?, Int32) -> Int32 = unsafe find("BIO_read"),
      let writeBIO: @convention(c) (Pointer?, UnsafeRawPointer?, Int32) -> Int32 = unsafe find("BIO_write")
    else { return nil }
    unsafe (self.newContext, self.serverMethod) = unsafe (newContext, serverMethod)
    unsafe (self.useChain, self.useKey) = unsafe (useChain, useKey)
    unsafe (self.freeContext, self.new, self.free) = unsafe (freeContext, new, free)
    unsafe (self.setAccept, self.setBIO) = unsafe (setAccept, setBIO)
    unsafe (self.read, self.write, self.shutdown) = unsafe (read, write, shutdown)
    unsafe (self.error, self.clearErrors) = unsafe (error, clearErrors)
    unsafe (self.newBIO, self.memoryBIO) = unsafe (newBIO, memoryBIO)
    unsafe (self.readBIO, self.writeBIO) = unsafe (readBIO, writeBIO)
  }
}

/// A certificate with its key.
@safe final class TLSIdentity: @unchecked Sendable {  // OpenSSL counts who uses the context
  let library: TLSLibrary
  fileprivate let context: UnsafeMutableRawPointer

  init(certificate: String, key: String) throws {
    guard let library = TLSLibrary.shared, let context = unsafe library.newContext(library.serverMethod()),
      unsafe library.useChain(context, certificate) == 1, unsafe library.useKey(context, key, 1) == 1
    else { throw CocoaError(.fileReadCorruptFile) }
    self.library = library
    unsafe self.context = unsafe context
  }

  deinit { unsafe library.freeContext(context) }
}

/// Ends TLS on a server's connection.
///
/// Unchecked: on the event loop only.
@safe final class TLSEnd: ChannelDuplexHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let identity: TLSIdentity
  private let library: TLSLibrary
  private let saysGoodbye: Bool
  private let tls: UnsafeMutableRawPointer?
  private let (incoming, outgoing): (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)

  init(_ identity: TLSIdentity, saysGoodbye: Bool) {
    self.identity = identity
    self.saysGoodbye = saysGoodbye
    library = identity.library
    unsafe tls = unsafe library.new(identity.context)
    unsafe (incoming, outgoing) = unsafe (library.newBIO(library.memoryBIO()), library.newBIO(library.memoryBIO()))
    unsafe library.setBIO(tls, incoming, outgoing)
    unsafe library.setAccept(tls)
  }

  deinit { unsafe library.free(tls) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    unsafe bytes.withUnsafeReadableBytes { _ = unsafe library.writeBIO(incoming, $0.baseAddress, Int32($0.count)) }
    var plain = [UInt8](repeating: 0, count: 16_384)
    while true {
      library.clearErrors()
      let count = unsafe plain.withUnsafeMutableBytes { unsafe library.read(tls, $0.baseAddress, Int32($0.count)) }
      let isOver = count <= 0 && ![2, 3].contains(unsafe library.error(tls, count))
      send(context, nil)
      guard count > 0 else {
        if isOver { context.close(promise: nil) }
        return
      }
      context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: plain.prefix(Int(count)))))
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    library.clearErrors()
    if bytes.readableBytes > 0 {
      unsafe bytes.withUnsafeReadableBytes { _ = unsafe library.write(tls, $0.baseAddress, Int32($0.count)) }
    }
    send(context, promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if saysGoodbye {
      library.clearErrors()
      _ = unsafe library.shutdown(tls)
      send(context, nil)
    }
    context.close(mode: mode, promise: promise)
  }

  /// Sends what TLS has to say.
  private func send(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    var sealed = ByteBuffer()
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe part.withUnsafeMutableBytes {
        unsafe library.readBIO(outgoing, $0.baseAddress, Int32($0.count))
      }
      guard count > 0 else { break }
      sealed.writeBytes(part.prefix(Int(count)))
    }
    guard sealed.readableBytes > 0 || promise != nil else { return }
    context.writeAndFlush(wrapOutboundOut(sealed), promise: promise)
  }
}

/// Ends TLS on a server's connection, and gives it each byte as a character of UTF-8.
final class Bytewise: ChannelDuplexHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let identity: TLSIdentity

  init(_ identity: TLSIdentity) { self.identity = identity }

  func handlerAdded(context: ChannelHandlerContext) {
    let end = TLSEnd(identity, saysGoodbye: true)
    do {
      try context.pipeline.syncOperations.addHandler(end, position: .before(self))
    } catch {
      context.fireErrorCaught(error)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let text = String(latin1: unwrapInboundIn(data).readableBytesView)
    context.fireChannelRead(wrapInboundOut(ByteBuffer(string: text)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = String(buffer: unwrapOutboundIn(data)).unicodeScalars.map { UInt8($0.value) }
    context.write(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: promise)
  }
}
#endif
