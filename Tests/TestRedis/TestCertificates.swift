#if Redis
import CacheEngine
import Foundation

/// An authority, and what it has signed, in a folder that goes with the test.
package final class TestCertificates: Sendable {
  package static let whyNot: String? = {
    do { if try run("version", in: "/tmp") { return nil } } catch {}
    return "there is no openssl here"
  }()

  package let folder: String

  /// A certificate and its private key.
  package struct Pair: Sendable {
    package let certificate: String
    package let key: String
  }

  package var authorities: String { folder + "/ca.pem" }

  package init() throws {
    folder = try makeShortFolder("tls")
    try openssl("req -x509 \(Self.newKey) -keyout ca.key -out ca.pem -subj /CN=authority -days 2")
  }

  deinit { do { try FileManager.default.removeItem(atPath: folder) } catch {} }

  private static let newKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

  /// Signs a certificate for names, as in `DNS:localhost,IP:127.0.0.1`; one for -1 days is over.
  package func sign(_ names: String, days: Int = 2) throws -> Pair {
    let name = UUID().uuidString
    try "subjectAltName=\(names)\n".write(toFile: folder + "/\(name).ext", atomically: true, encoding: .utf8)
    try openssl("req \(Self.newKey) -keyout \(name).key -out \(name).csr -subj /CN=\(name)")
    try openssl(
      "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) -extfile \(name).ext -out \(name).pem"
    )
    return Pair(certificate: "\(folder)/\(name).pem", key: "\(folder)/\(name).key")
  }

  /// What a redis-server is told to speak TLS at a port.
  package func options(_ pair: Pair, port: Int, asksClients: Bool = false) -> [String] {
    [
      "--tls-port", "\(port)", "--tls-cert-file", pair.certificate, "--tls-key-file", pair.key, "--tls-ca-cert-file",
      authorities, "--tls-auth-clients", asksClients ? "yes" : "no",
    ]
  }

  private func openssl(_ arguments: String) throws {
    guard try Self.run(arguments, in: folder) else { throw CacheError(.simulated, "openssl \(arguments)") }
  }

  private static func run(_ arguments: String, in folder: String) throws -> Bool {
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    openssl.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
    openssl.currentDirectoryURL = URL(fileURLWithPath: folder)
    (openssl.standardOutput, openssl.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try openssl.run()
    openssl.waitUntilExit()
    return openssl.terminationStatus == 0
  }
}
#endif
