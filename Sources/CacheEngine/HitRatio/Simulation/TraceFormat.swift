import CacheCore

/// How a recorded trace is written down.
///
/// Reads are requests; writes, and what else is in a log or a trace, are left out and counted
/// (``RequestTrace/skipped``). The public traces are collected at <https://github.com/cacheMon/cache_dataset>.
public enum TraceFormat: String, Sendable, CaseIterable {
  /// A key on each line, and after a tab, if all lines have one, the size of its value in bytes; `#` begins a comment.
  case text
  /// The access log of a web server in the common or combined format: nginx, Apache, `varnishncsa`. The key is the target of
  /// the request; GET and HEAD are reads. Only whole answers tell the size of a value: none to HEAD, and of the others those with
  /// a status of 2xx or 3xx, except 206 and 304, or of 404 or 410.
  case log
  /// A JSON object on each line, with `key`, `url`, `uri`, `path`, `target` or `request_uri`, and if there is one, `size`,
  /// `bytes`, `body_bytes_sent` or `bytes_sent`, and `method`, `op` or `request_method`. With a `status`, the size is one as in a log;
  /// with a `whole` that is false, it is none.
  case json
  /// Columns with commas between them and their names in the first line: libCacheSim's CSV
  /// (<https://github.com/1a1a11a/libCacheSim>) and Meta's traces (<https://cachelib.org>). Without names, the columns are time, key,
  /// size. Values are not quoted.
  case csv
  /// Twitter's traces: time, key, key size, value size, client, operation, lifetime, with commas between them
  /// (<https://github.com/twitter/cache-trace>).
  case twitter
  /// The traces of ARC: first block, number of blocks, a number that is ignored, and the number of the request (Megiddo and
  /// Modha, FAST 2003).
  case arc
  /// The traces of LIRS: the number of a block on each line, and marks of `*` (Jiang and Zhang, SIGMETRICS 2002).
  case lirs
  /// libCacheSim's binary records of 24 bytes, little-endian: time (32 bits), key (64), size (32), next access (64).
  case oracleGeneral
  /// Little-endian numbers of 16 bits, one for each request.
  case u16
  /// Little-endian numbers of 32 bits, one for each request.
  case u32

  /// Goes by the name of a file: `web12.u16`, `orders.u32.gz`, `w92.oracleGeneral.zst`, `OLTP.lis`, `multi1.trc`.
  ///
  /// It is `nil` if the name says nothing, and the first lines have to tell.
  ///
  /// - Parameter path: The path of the file.
  public init?(path: String) {
    let name = Self.unpacked(path)
    let endings: [(String, TraceFormat)] = [
      (".u16", .u16), (".u32", .u32), (".oracleGeneral", .oracleGeneral), (".oracleGeneral.bin", .oracleGeneral),
      (".arc", .arc), (".lis", .arc), (".lirs", .lirs), (".trc", .lirs),
    ]
    guard let found = endings.first(where: { name.hasSuffix($0.0) }) else { return nil }
    self = found.1
  }

  /// A name without what a packer put behind it.
  static func unpacked(_ path: String) -> Substring {
    let ending = [".gz", ".zst", ".xz"].first { path.hasSuffix($0) } ?? ""
    return path.dropLast(ending.count)
  }

  /// The bytes of one record; `nil` for lines.
  var width: Int? {
    switch self {
    case .u16: 2
    case .u32: 4
    case .oracleGeneral: 24
    default: nil
    }
  }
}
