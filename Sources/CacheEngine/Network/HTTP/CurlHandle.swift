#if os(Linux) || os(macOS)
import CCurl

/// One handle of libcurl, with the lines of its request's head and the words of its last error.
///
/// It is touched by the loop's thread only.
@safe final class CurlHandle {
  private(set) var easy: UnsafeMutableRawPointer?
  private var lines: UnsafeMutablePointer<curl_slist>?
  private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// Whether libcurl took everything that was set.
  private(set) var isAccepted = true

  init() { unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE)) }

  deinit { unsafe message.deallocate() }

  /// Makes the handle, for http and https and by rules of our own.
  ///
  /// - Returns: Whether there was memory for it.
  func open() -> Bool {
    unsafe easy = curl_easy_init()
    guard let easy = unsafe easy else { return false }
    note(unsafe ccurl_allow_http_only(easy))
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NOSIGNAL, 1)
    note(unsafe ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, message))
    unsafe ccurl_leave_name_lookups_behind(easy)
    return true
  }

  func set(_ option: CURLoption, _ text: String) { note(unsafe ccurl_set_string(easy, option, text)) }
  func set(_ option: CURLoption, _ number: Int) { note(unsafe ccurl_set_long(easy, option, number)) }
  /// Sets nothing in place of a default.
  ///
  /// A TLS library that does not know the option has no default for it either.
  func clear(_ option: CURLoption) {
    let code = unsafe ccurl_set_string(easy, option, nil)
    note(code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code)
  }

  func set(_ option: CURLoption, offset: Int) { note(unsafe ccurl_set_offset(easy, option, curl_off_t(offset))) }

  /// Has a function called for what an option is about.
  func call(_ function: ccurl_receiver, for option: CURLoption, _ data: CURLoption, with context: AnyObject) {
    note(unsafe ccurl_set_receiver(easy, option, function))
    note(unsafe ccurl_set_pointer(easy, data, Unmanaged.passUnretained(context).toOpaque()))
  }

  /// Sets the lines of the request's head, each with a zero behind it.
  func set(lines new: [[CChar]]) {
    for line in new {
      guard let longer = unsafe curl_slist_append(lines, line) else {
        isAccepted = false
        return
      }
      unsafe lines = unsafe longer
    }
    note(unsafe ccurl_set_list(easy, CURLOPT_HTTPHEADER, lines))
  }

  /// What libcurl said last.
  var detail: String { unsafe CurlFailure.detail(message) }

  /// Frees it; it must have left its multi handle.
  func close() {
    if let easy = unsafe easy { unsafe curl_easy_cleanup(easy) }
    unsafe easy = nil
    unsafe curl_slist_free_all(lines)
    unsafe lines = nil
  }

  private func note(_ code: CURLcode) { isAccepted = code == CURLE_OK && isAccepted }
}
#endif
