/// Why there is no answer of an origin, by the names of RFC 9209: the underlying error of what a proxy answers itself.
package enum OriginFault: String, Error {
  case name = "dns_error"
  case unavailable = "destination_unavailable"
  case refused = "connection_refused"
  case connectTimeout = "connection_timeout"
  case terminated = "connection_terminated"
  case readTimeout = "connection_read_timeout"
  case writeTimeout = "connection_write_timeout"
  case answerTimeout = "http_response_timeout"
  case certificate = "tls_certificate_error"
  case security = "tls_protocol_error"
  case longHead = "http_response_header_section_size"
  case `protocol` = "http_protocol_error"
  case configuration = "proxy_configuration_error"
  case `internal` = "proxy_internal_error"
}
