#if Redis
import CacheEngine
import Foundation

/// Makes a temporary folder whose name leaves room for the path of a socket, which may have 107 bytes.
package func makeShortFolder(_ name: String) throws -> String {
  var template = Array("/tmp/\(name)-XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { throw SystemFailure("mkdtemp") }
  return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}
#endif
