#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Testing

/// One response and one later request, as facts rather than as fields.
private struct Facts: CustomStringConvertible {
  var isShared = true
  var status = 200
  // Directives of the response, in whole seconds.
  var maxAge: Int?
  var sharedMaxAge: Int?
  var noStore = false
  var noCache = false
  var isPrivate = false
  var isPublic = false
  var mustRevalidate = false
  var proxyRevalidate = false
  var mustUnderstand = false
  var immutable = false
  var whileRevalidate: Int?
  var ifError: Int?
  // Other fields, in seconds before or after the receipt.
  var dateBefore: Int?
  var expiresAfter: Int?
  var modifiedBefore: Int?
  var age: Int?
  var hasTag = false
  // The targeted field, which says one thing.
  var targetedMaxAge: Int?
  // The request that was answered.
  var hadCredentials = false
  var hadNoStore = false
  // The request that follows.
  var after = 0
  var delay = 0
  var wantsMaxAge: Int?
  var wantsFresh: Int?
  var acceptsStale: Int?
  var wantsOrigin = false
  var wantsNobody = false
  var isSecure = false

  init(_ chance: inout Chance) {
    func perhaps(_ oneIn: Int, _ values: [Int]) -> Int? {
      chance.happens(oneIn: oneIn) ? chance.one(of: values) : nil
    }
    let spans = [0, 1, 5, 10, 11, 20, 100]
    isShared = chance.happens(oneIn: 2)
    status = chance.one(of: [200, 200, 200, 404, 302, 500, 599, 206, 304, 301])
    maxAge = perhaps(2, spans)
    sharedMaxAge = perhaps(5, spans)
    noStore = chance.happens(oneIn: 8)
    noCache = chance.happens(oneIn: 8)
    isPrivate = chance.happens(oneIn: 6)
    isPublic = chance.happens(oneIn: 6)
    mustRevalidate = chance.happens(oneIn: 6)
    proxyRevalidate = chance.happens(oneIn: 8)
    mustUnderstand = chance.happens(oneIn: 8)
    immutable = chance.happens(oneIn: 4)
    whileRevalidate = perhaps(4, spans)
    ifError = perhaps(4, spans)
    dateBefore = perhaps(2, [-20, 0, 1, 5, 30])
    expiresAfter = perhaps(3, [-10, 0, 5, 10, 60])
    modifiedBefore = perhaps(3, [-100, 0, 100, 150, 1000, 10_000_000])
    age = perhaps(4, [0, 3, 50])
    hasTag = chance.happens(oneIn: 2)
    targetedMaxAge = perhaps(6, spans)
    hadCredentials = chance.happens(oneIn: 5)
    hadNoStore = chance.happens(oneIn: 10)
    after = chance.one(of: [0, 1, 4, 5, 6, 9, 10, 11, 15, 16, 21, 60, 120])
    delay = chance.one(of: [0, 0, 0, 2, 7])
    wantsMaxAge = perhaps(5, [0, 5, 20])
    wantsFresh = perhaps(6, [0, 5, 20])
    acceptsStale = perhaps(5, [0, 5, 20])
    wantsOrigin = chance.happens(oneIn: 10)
    wantsNobody = chance.happens(oneIn: 10)
    isSecure = chance.happens(oneIn: 2)
  }

  var description: String {
    "\(responseFields.map(\.description)) \(requestFields.map(\.description)) after \(after) delay \(delay)"
  }

  var responseFields: HTTPFields {
    let flags = [
      (noStore, "no-store"), (noCache, "no-cache"), (isPrivate, "private"), (isPublic, "public"),
      (mustRevalidate, "must-revalidate"), (proxyRevalidate, "proxy-revalidate"), (mustUnderstand, "must-understand"),
      (immutable, "immutable"),
    ]
    let counts = [
      ("max-age", maxAge), ("s-maxage", sharedMaxAge), ("stale-while-revalidate", whileRevalidate),
      ("stale-if-error", ifError),
    ]
    let control =
      flags.filter(\.0).map(\.1) + counts.compactMap { name, seconds in seconds.map { "\(name)=\($0)" } }
    func date(_ seconds: Int) -> String { HTTPDate(newYear + .seconds(seconds)).description }
    var fields = HTTPFields()
    fields[.cacheControl] = control.isEmpty ? nil : control.joined(separator: ", ")
    fields[.date] = dateBefore.map { date(-$0) }
    fields[.expires] = expiresAfter.map(date)
    fields[.lastModified] = modifiedBefore.map { date(-$0) }
    fields[.age] = age.map { "\($0)" }
    fields[.eTag] = hasTag ? "\"x\"" : nil
    fields[.init("CDN-Cache-Control")!] = targetedMaxAge.map { "max-age=\($0)" }
    return fields
  }

  var requestFields: HTTPFields {
    let control =
      [(wantsOrigin, "no-cache"), (wantsNobody, "only-if-cached")].filter(\.0).map(\.1)
      + [("max-age", wantsMaxAge), ("min-fresh", wantsFresh), ("max-stale", acceptsStale)].compactMap {
        name, seconds in
        seconds.map { "\(name)=\($0)" }
      }
    return control.isEmpty ? [:] : [.cacheControl: control.joined(separator: ", ")]
  }

  // What follows was written from the text of the RFCs, paragraph by paragraph, without the policy's sources at hand.

  /// A targeted field leaves nothing of the others standing: RFC 9213, section 2.2.
  private var isTargeted: Bool { isShared && targetedMaxAge != nil }
  private func said(_ flag: Bool) -> Bool { !isTargeted && flag }
  private func said(_ seconds: Int?) -> Int? { isTargeted ? nil : seconds }

  /// RFC 9111, section 4.2.1.
  private var explicitSeconds: Int? {
    if isTargeted { return targetedMaxAge }
    if isShared, let sharedMaxAge { return sharedMaxAge }
    if let maxAge { return maxAge }
    guard let expiresAfter else { return nil }
    return max(0, expiresAfter + (dateBefore ?? 0))
  }

  /// RFC 9111, section 4.2.2, with a tenth and a day.
  ///
  /// In tenths of a second, which are all that can come of it.
  private var lifetime: Int {
    if let explicitSeconds { return explicitSeconds * 10 }
    let mayGuess = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    guard mayGuess || allowsAnyStatus, !said(noCache), let modifiedBefore else { return 0 }
    return min(max(0, modifiedBefore - (dateBefore ?? 0)), 864_000)
  }

  private var allowsAnyStatus: Bool { said(isPublic) || (!isShared && said(isPrivate)) }

  /// RFC 9111, section 3.
  var mayBeStored: Bool {
    guard status != 206, status != 304, !hadNoStore else { return false }
    if said(mustUnderstand) {
      guard [200, 404, 302, 500, 301].contains(status) else { return false }
    } else if said(noStore) {
      return false
    }
    if isShared, said(isPrivate) { return false }
    if isShared, hadCredentials, !said(mustRevalidate), !said(isPublic), said(sharedMaxAge) == nil { return false }
    guard allowsAnyStatus || explicitSeconds != nil || [200, 301, 404].contains(status) else { return false }
    // Not in the RFC: N10.
    return hasTag || modifiedBefore != nil || lifetime > 0 || (said(whileRevalidate) ?? 0) > 0
      || (said(ifError) ?? 0) > 0
  }

  /// RFC 9111, section 4.2.3, in tenths of a second.
  private var currentAge: Int {
    let apparentAge = max(0, dateBefore ?? 0)
    let correctedAge = (age ?? 0) + delay
    return (max(apparentAge, correctedAge) + after) * 10
  }

  /// RFC 9111, section 4: why may it be used, or may it not.
  var use: String {
    let isFresh = lifetime > currentAge
    let isStaleForbidden =
      said(mustRevalidate) || said(noCache) || (isShared && (said(proxyRevalidate) || said(sharedMaxAge) != nil))
    let refused = wantsNobody ? "unanswerable" : "forward"
    if wantsOrigin || said(noCache) { return refused }
    if let wantsMaxAge, currentAge > wantsMaxAge * 10 {
      let isReload = wantsMaxAge == 0
      if !(isReload && isSecure && said(immutable) && isFresh) { return refused }
    }
    if let wantsFresh, lifetime - currentAge < wantsFresh * 10 { return refused }
    if isFresh { return "answer" }
    if isStaleForbidden { return refused }
    let staleness = currentAge - lifetime
    if let acceptsStale, staleness <= acceptsStale * 10 { return "answer" }
    if let span = said(whileRevalidate), span > 0, staleness <= span * 10 {
      return wantsNobody ? "answer" : "revalidate"
    }
    return refused
  }
}

@Suite("The policy beside a second reading")
struct SecondReadingTests {
  @Test("Both say the same of 40,000 responses drawn by lot", arguments: 0..<4)
  func agree(_ seed: Int) {
    var chance = Chance(seed: UInt64(seed) + 1)
    var differences = 0
    var uses: [String: Int] = [:]
    for _ in 0..<10_000 {
      let facts = Facts(&chance)
      let policy = HTTPCachePolicy(facts.isShared ? .shared : .private)
      let head = HTTPResponse(status: .init(code: facts.status), headerFields: facts.responseFields)
      var first = get()
      if facts.hadCredentials { first.headerFields[.authorization] = "x" }
      if facts.hadNoStore { first.headerFields[.cacheControl] = "no-store" }
      let kept = policy.keep(head, for: first, requestTime: newYear - .seconds(facts.delay), responseTime: newYear)
      var agree = (kept != nil) == facts.mayBeStored
      if let kept, agree {
        var second = get()
        second.headerFields = facts.requestFields
        let use =
          switch policy.decision(
            on: second, isSecure: facts.isSecure, stored: StoredVariants([kept]), at: newYear + .seconds(facts.after))
          {
          case .answer: "answer"
          case .answerAndRevalidate: "revalidate"
          case .forward: "forward"
          case .unanswerable: "unanswerable"
          }
        agree = use == facts.use
        uses[use, default: 0] += 1
      }
      if !agree {
        differences += 1
        if differences <= 3 { Issue.record("they differ: \(facts)") }
      }
    }
    #expect(differences == 0)
    // What is never drawn is not tested.
    for use in ["answer", "revalidate", "forward", "unanswerable"] { #expect(uses[use, default: 0] > 40) }
  }
}
#endif
