#if HTTP
package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension StoredVariants {
  /// The responses as a person reads them: of each what requests it answers, its head, and its content.
  package var readable: Data {
    var bytes = Data()
    for (place, response) in responses.enumerated() {
      if place > 0 { bytes.append(contentsOf: Array("\n\n".utf8)) }
      if responses.count > 1 {
        bytes.append(contentsOf: Array("# variant \(place + 1) of \(responses.count)\n".utf8))
      }
      for line in response.selectingLines { bytes.append(contentsOf: Array("# for \(line)\n".utf8)) }
      bytes.append(contentsOf: Array("HTTP \(response.head.status)\n".utf8))
      for field in response.head.headerFields {
        bytes.append(contentsOf: Array("\(field.name.rawName): \(field.value)\n".utf8))
      }
      bytes.append(0x0A)
      bytes.append(response.body)
    }
    return bytes
  }
}

extension StoredResponse {
  /// Its status, for those who know no HTTP types.
  package var statusCode: Int { head.status.code }

  /// The fields of requests that it answers, a line each.
  package var selectingLines: [String] { selecting.sorted.map { "\($0.name.rawName): \($0.value ?? "(not sent)")" } }
}

extension SelectingFields {
  /// Each field with its value, in the order of their names.
  package var sorted: [(name: HTTPField.Name, value: String?)] {
    values.sorted { $0.key.canonicalName < $1.key.canonicalName }.map { ($0.key, $0.value) }
  }
}
#endif
