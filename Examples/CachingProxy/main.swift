// A caching proxy with a memory level in front of one http server, until it is interrupted:
//
//     swift run --traits Proxy CachingProxy 127.0.0.1:8080 http://127.0.0.1:3000 [--json | --quiet] [--store-cookies]

#if Proxy
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import Foundation

func refuse(_ text: String) -> Never {
  FileHandle.standardError.write(
    Data("\(text)\nusage: CachingProxy HOST:PORT http://HOST[:PORT] [--json | --quiet] [--store-cookies]\n".utf8))
  exit(64)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2, let origin = URL(string: arguments[1]), origin.scheme == "http", let host = origin.host()
else {
  refuse("an address to listen at and the http address of a server are needed")
}
guard let colon = arguments[0].lastIndex(of: ":"), let port = Int(arguments[0][colon...].dropFirst()),
  (0...65535).contains(port)
else { refuse("\(arguments[0]) is no address; give one like 127.0.0.1:8080") }

var settings = ProxySettings()
// An address of IPv6 stands in brackets.
settings.host = arguments[0][..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
settings.port = port
let isQuiet = arguments.contains("--quiet")
let isJSON = arguments.contains("--json")
var policy = HTTPCachePolicy(.shared)
policy.storesCookies = arguments.contains("--store-cookies")
let memory = MemoryCacheLevel<String, StoredVariants>(capacity: 256 << 20) { $1.cost }
do {
  let proxy = try await HTTPCacheProxy(
    storing: memory, origin: ServerOrigin(host: host, port: origin.port ?? 80), policy: policy, settings: settings,
    observe: { request in
      guard !isQuiet else { return }
      FileHandle.standardOutput.write(Data("\(isJSON ? request.jsonLine : request.plainLine)\n".utf8))
    })
  FileHandle.standardError.write(Data("listening at \(arguments[0][..<colon]):\(proxy.port)\n".utf8))
  let stops = [SIGINT, SIGTERM].map { number in
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler { Task { await proxy.stop() } }
    #if canImport(Darwin)
    // On Linux, Dispatch catches what it watches; what came before that would be lost.
    signal(number, SIG_IGN)
    #endif
    source.activate()
    return source
  }
  try await proxy.serve()
  withExtendedLifetime(stops) {}
  FileHandle.standardError.write(Data("\(proxy.counts)\n".utf8))
} catch {
  refuse("\(error)")
}
#else
print("build it with --traits Proxy")
#endif
