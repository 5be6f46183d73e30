// A client of a JSON API that also works without a network:
//
//     swift run OfflineClient --cache ./cache [--fresh SECONDS] [--verbose] https://api.example.org users/1 users/2
//
// Each answer is a line of JSON. What was fetched in the last minute (--fresh) is not requested again; what was fetched in the last
// 30 days is printed when there is no network, with a note. The exit status is 0 if there was an answer to everything, 69 if one could
// be neither fetched nor found in the cache, 65 if one is not JSON, and 64 if the program was called wrongly.

import CacheEngine
import CacheEngineNetwork
import Foundation

@main
struct OfflineClient {
  static func main() async {
    var arguments = Array(CommandLine.arguments.dropFirst())
    var options = ["--cache": "", "--fresh": "60"]
    let isVerbose = arguments.contains("--verbose")
    arguments.removeAll { $0 == "--verbose" }
    while arguments.count >= 2, options[arguments[0]] != nil {
      options[arguments[0]] = arguments[1]
      arguments.removeFirst(2)
    }
    guard let directory = options["--cache"], !directory.isEmpty, let fresh = Int(options["--fresh"] ?? ""), fresh >= 0,
      arguments.count >= 2
    else {
      exit(64, "usage: OfflineClient --cache DIRECTORY [--fresh SECONDS] [--verbose] ADDRESS PATH...")
    }
    let address = arguments.removeFirst()
    do {
      exit(try await run(arguments, address: address, directory: directory, fresh: .seconds(fresh), isVerbose))
    } catch {
      exit(error.code == .invalidAddress ? 64 : 74, "error: \(error)")
    }
  }

  private static func run(
    _ paths: [String], address: String, directory: String, fresh: Duration, _ isVerbose: Bool
  ) async throws(CacheError) -> Int32 {
    let client: Client
    do {
      client = try Client(address: address, directory: directory, fresh: fresh, isVerbose)
    } catch let error as CacheError { throw error } catch { throw CacheError(.unusableStore, "\(error)") }
    var status: Int32 = 0
    for path in paths {
      do {
        let answer = try await client.answer(to: path)
        if answer.isStale {
          note("note: \(address) does not answer; \(path) is \(answer.age.components.seconds) s old")
        }
        FileHandle.standardOutput.write(answer.line + Data("\n".utf8))
      } catch is DecodingError {
        note("error: \(path) is not JSON")
        status = max(status, 65)
      } catch {
        note("error: there is no \(path): \(error)")
        status = 69
      }
    }
    await client.close()
    return status
  }

  private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  private static func exit(_ status: Int32, _ message: String? = nil) -> Never {
    if let message { note(message) }
    Foundation.exit(status)
  }
}

/// Memory over a disk over a network.
struct Client {
  struct Answer {
    var line: Data
    var isStale: Bool
    var age: Duration
  }

  private let cache: any CacheLevel<String, Data>
  private let disk: DiskCacheLevel<String, Data>

  init(address: String, directory: String, fresh: Duration, _ isVerbose: Bool) throws {
    let fresh = Expiry.after(fresh)
    let month = Duration.seconds(30 * 86_400)
    let network = try NetworkFetcher<String>(
      template: address + "/{+key}", timeout: .seconds(10), headers: [HTTPHeader("Accept", "application/json")]
    )
    // Only JSON is kept, and not the login page of a hotel's network.
    .postProcess { body in
      _ = try JSONDecoder().decode(JSONValue.self, from: body)
      return body
    }
    disk = try DiskCacheLevel(directory: directory, capacity: 16 << 20, expiry: fresh, keepsExpired: month)
    // A command-line client decides itself what is worth a line: failures are logged only on request.
    let observer: (any CacheObserver)? = isVerbose ? CacheLogger.failures : nil
    cache = MemoryCacheLevel<String, Data>(capacity: 4 << 20, expiry: fresh)
      .compose(disk.staleIfError(network, for: month, observer: observer), observer: observer)
  }

  func answer(to path: String) async throws -> Answer {
    guard let entry = try await cache.lookup(path).entry else { throw CacheError(missing: path, reason: .absent) }
    let value = try JSONDecoder().decode(JSONValue.self, from: entry.value)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Answer(
      line: try encoder.encode(value), isStale: entry.isStale,
      age: entry.created.map { $0.duration(to: SystemClock().now) } ?? .zero)
  }

  func close() async { try? await disk.close() }
}
