import CacheEngine
import Testing

@Suite struct CacheErrorTests {
  @Test("errors are equal if they say the same of the same level")
  func equality() {
    let error = CacheError(.status, "not found", level: "api", underlying: CacheError(.unreachable, "down"))
    #expect(error == CacheError(.status, "not found", level: "api", underlying: CacheError(.unreachable, "down")))
    var others = [CacheError](repeating: error, count: 6)
    others[0].code = .timedOut
    others[1].level = nil
    others[2].message = "gone"
    others[3].underlying = CacheError(.unreachable, "up")
    others[4].status = 404
    others[5].failures = [("disk", CacheError(.diskWriteFailed, "full"))]
    for other in others { #expect(other != error, "\(other)") }
    var same = error
    same.failures = others[5].failures
    #expect(same == others[5])
    same.failures = [("disk", CacheError(.diskWriteFailed, "broken"))]
    #expect(same != others[5])
  }
}
