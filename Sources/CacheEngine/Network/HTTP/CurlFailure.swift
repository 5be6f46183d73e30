import CacheCore
#if os(Linux) || os(macOS)
import CCurl

/// What libcurl's result codes mean to a cache.
enum CurlFailure {
  static func error(_ code: CURLcode, detail: String, for transfer: any CurlJob) -> CacheError {
    let detail = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
    switch code {
    case CURLE_OPERATION_TIMEDOUT:
      return timedOut(transfer)
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return transfer.failure(
        .unreachable, "cannot be reached: its host name is not known; check the name and the network (\(detail))")
    case CURLE_COULDNT_CONNECT, CURLE_SEND_ERROR:
      return transfer.failure(
        .unreachable, "cannot be reached; check that the server runs and that host and port are right (\(detail))")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED:
      return transfer.failure(
        .unreachable, "cannot be reached safely; check the server's certificate and this machine's (\(detail))")
    case CURLE_URL_MALFORMAT:
      return transfer.failure(.invalidAddress, "is not an address that can be fetched (\(detail))")
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
      return transfer.failure(
        .invalidResponse, "ended the connection before its answer was whole; try again (\(detail))")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR,
      CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_FILESIZE_EXCEEDED:
      return transfer.failure(
        .invalidResponse, "does not answer in valid HTTP; check that it is an HTTP server (\(detail))")
    case CURLE_OUT_OF_MEMORY:
      // This is also what libcurl calls a header line that is longer than its buffer.
      return transfer.failure(
        .invalidResponse, "sends a header line that is too long, or no memory is left (\(detail))")
    default:
      return transfer.failure(.unreachable, "cannot be fetched (\(detail))")
    }
  }

  static func timedOut(_ transfer: any CurlJob) -> CacheError {
    transfer.failure(.timedOut, "\(transfer.patience); check the server or allow more time")
  }

  /// What libcurl says of a failure, held to printable ASCII: parts of it come from the server.
  static func detail(_ message: UnsafePointer<CChar>) -> String {
    let bytes = unsafe UnsafeBufferPointer(start: message, count: Int(CURL_ERROR_SIZE)).prefix { $0 != 0 }
    return String(decoding: unsafe bytes.map { $0 >= 0x20 && $0 < 0x7F ? UInt8($0) : 0x3F }, as: UTF8.self)
  }

  /// The kind of a failure before a final head was there.
  static func fault(_ code: CURLcode) -> OriginFault {
    switch code {
    case CURLE_OPERATION_TIMEDOUT: .connectTimeout
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .name
    case CURLE_COULDNT_CONNECT: .unavailable
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .certificate
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: .security
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_INITFAILED: .configuration
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .terminated
    case CURLE_OUT_OF_MEMORY: .longHead
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_BAD_CONTENT_ENCODING: .protocol
    default: .internal
    }
  }
}
#endif
