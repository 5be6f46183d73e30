#if HTTP
import Testing
@testable import CacheEngineHTTP

/// What must not be used although the store still has it.
@Suite struct FailedRemovalsTests {
  @Test("a target is in it until it was removed, and no other is")
  func each() {
    let failed = FailedRemovals()
    failed.remove("a")
    #expect(!failed.contains("a"))
    failed.insert("a")
    failed.insert("b")
    #expect(failed.contains("a") && failed.contains("b") && !failed.contains("c"))
    failed.remove("a")
    #expect(!failed.contains("a") && failed.contains("b"))
    failed.remove("b")
    #expect(!failed.contains("b"))
  }

  @Test("too many to be remembered are all targets, until everything was removed")
  func tooMany() {
    let failed = FailedRemovals()
    for number in 0..<FailedRemovals.most { failed.insert("\(number)") }
    #expect(!failed.contains("other"))
    failed.insert("last")
    #expect(failed.contains("other"))
    failed.remove("other")
    failed.insert("other")
    #expect(failed.contains("0") && failed.contains("last") && failed.contains("other"))
    failed.removeAll()
    #expect(!failed.contains("0") && !failed.contains("other"))
    failed.insert("a")
    #expect(failed.contains("a") && !failed.contains("b"))
  }
}
#endif
