import CacheEngine
import CacheEngineInspector
import ExplorerCommands
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where an app is looked for: at a socket, or among the sockets of a directory.
package struct AppPlace: Sendable {
  package let path: String

  package init(path: String) {
    self.path = path
  }

  package static func holdsSockets(_ directory: String) -> Bool { !sockets(in: directory).isEmpty }

  /// The socket that it is, or those of the directory.
  var sockets: [String] {
    FoundFile.kind(of: path) == .directory ? Self.sockets(in: path) : [path]
  }

  /// Whether there may be several apps.
  package var hasSeveral: Bool { sockets.count > 1 }

  /// Connects to the one app that listens; blocks for some seconds at the most.
  ///
  /// - Returns: The client and the path of its socket; what it tells waits in the inlet.
  /// - Throws: ``CacheError``, with code `unreachable` if nobody listens.
  func connect() throws -> (client: InspectorClient, inlet: AppInlet, socket: String) {
    guard FoundFile.kind(of: path) == .directory else { return try Self.connect(to: path) }
    var found: [(client: InspectorClient, inlet: AppInlet, socket: String)] = []
    let sockets = Self.sockets(in: path)
    for socket in sockets {
      // One that a process left behind is no app.
      do { found.append(try Self.connect(to: socket)) } catch let error as CacheError where error.code == .unreachable {
      }
    }
    guard let first = found.first else {
      let place = sockets.count == 1 ? sockets[0] : "any of the \(sockets.count) sockets in \(path)"
      throw CacheError(.unreachable, "nobody listens at \(place); start the app that serves there")
    }
    guard found.count == 1 else {
      let names = found.map(\.socket).joined(separator: ", ")
      throw CacheError(.inUse, "\(found.count) apps serve in \(path); name the socket of one: \(names)")
    }
    return first
  }

  private static func connect(to socket: String) throws -> (InspectorClient, AppInlet, String) {
    let inlet = AppInlet()
    let client = try InspectorClient.connect(
      to: socket, as: "cache-explorer \(ProgramVersion.text)", tell: inlet.take)
    return (client, inlet, socket)
  }

  private static func sockets(in directory: String) -> [String] {
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: directory)) ?? []
    let folder = directory.hasSuffix("/") ? directory : directory + "/"
    return names.sorted().map { folder + $0 }.filter {
      // A link is a second name of an app.
      (try? files.attributesOfItem(atPath: $0))?[.type] as? FileAttributeType == .typeSocket
    }
  }
}
