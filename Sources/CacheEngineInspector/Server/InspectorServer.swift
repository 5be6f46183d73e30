public import CacheEngine

extension CacheInspector {
  /// Shows a cache to those who attach to a socket, for as long as the answer is held.
  ///
  /// The socket belongs to the user of this process and nobody else may connect. Its directory is made if it is missing,
  /// and must belong to the user and be writable for nobody else. A socket that a process left behind is replaced; one
  /// that is served is not.
  ///
  /// Keys are shown as text. A key that is given as text is read as a `String` or a `LosslessStringConvertible`, or is
  /// looked for among those that the level holds. `Data`, `[UInt8]` and `String` are shown as they are, what is
  /// `Codable` as JSON, everything else as `String(describing:)`.
  ///
  /// - Parameters:
  ///   - cache: The composition. Levels in it that an inspector observes tell what happens in them.
  ///   - path: The path of the socket: at most 107 bytes on Linux and 103 on Apple platforms.
  ///   - name: What the app is called; `nil` for the name of the program.
  ///   - allowsWrites: Whether those who attach may change what the cache holds.
  /// - Returns: An object that stops serving when it is closed or released.
  /// - Throws: `CacheError` with code `unusableSocket` if there can be no socket at the path, or
  ///   `CacheError.Code.inUse` if another process serves there, be it stopped.
  public static func serve(
    _ cache: some CacheLevel, at path: String, name: String? = nil, allowsWrites: Bool = false
  ) throws -> InspectorServer {
    try serve(cache, at: path, name: name, allowsWrites: allowsWrites, versions: .current)
  }

  package static func serve(
    _ cache: some CacheLevel, at path: String, name: String? = nil, allowsWrites: Bool = false,
    versions: ProtocolVersions, patience: Duration = WireLimits.patience
  ) throws -> InspectorServer {
    let loop = try InspectorLoop(
      InspectedCache(cache), at: path,
      terms: InspectorLoop.Terms(
        name: name ?? ProcessName.current, allowsWrites: allowsWrites, versions: versions, patience: patience))
    try loop.start()
    return InspectorServer(loop: loop, path: path)
  }
}

/// A cache that is shown at a socket; see ``CacheInspector/serve(_:at:name:allowsWrites:)``.
///
/// Releasing it stops the serving, as ``close()`` does.
public final class InspectorServer: Sendable {
  /// The path of the socket.
  public let path: String
  private let loop: InspectorLoop

  init(loop: InspectorLoop, path: String) {
    self.loop = loop
    self.path = path
  }

  /// How many are attached at the moment.
  public var attachedCount: Int { loop.attachedCount }

  /// Removes the socket and says goodbye to everybody who is attached.
  ///
  /// The cache goes on as before.
  public func close() { loop.stop() }

  deinit { loop.stop() }
}
