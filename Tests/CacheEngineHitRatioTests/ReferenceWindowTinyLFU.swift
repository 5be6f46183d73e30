/// W-TinyLFU on arrays, with counts that are exact or estimated as the engine does it.
struct ReferenceWindowTinyLFU {
  private var (window, probation, protected): ([Int], [Int], [Int]) = ([], [], [])
  private var counts: any ReferenceCounts
  private var share = 0.1
  private var step = -0.0625
  private var (sampleHits, samples) = (0, 0)
  private var previous: Double?
  private let capacity: Int

  private init(_ capacity: Int, _ counts: any ReferenceCounts) {
    self.capacity = capacity
    self.counts = counts
  }

  static func hits(capacity: Int, counting counts: any ReferenceCounts, _ trace: [Int]) -> Int {
    var cache = ReferenceWindowTinyLFU(capacity, counts)
    return trace.count { cache.request($0) }
  }

  private var windowSize: Int { max(1, Int(Double(window.count + probation.count + protected.count) * share)) }

  private mutating func request(_ key: Int) -> Bool {
    let isHit = window.contains(key) || probation.contains(key) || protected.contains(key)
    if !isHit { makeRoom() }
    counts.count(key, held: window.count + probation.count + protected.count + (isHit ? 0 : 1))
    if let index = window.firstIndex(of: key) {
      window.append(window.remove(at: index))
    } else if isHit {
      probation.removeAll { $0 == key }
      protected.removeAll { $0 == key }
      protected.append(key)
    } else {
      window.append(key)
    }
    balance()
    climb(isHit)
    return isHit
  }

  private mutating func makeRoom() {
    guard window.count + probation.count + protected.count == capacity else { return }
    if window.count < windowSize {
      if !probation.isEmpty { probation.removeFirst() } else if !protected.isEmpty { protected.removeFirst() }
      return
    }
    let candidate = window.removeFirst()
    guard let victim = probation.first ?? protected.first else { return }
    guard counts[candidate] > counts[victim] else { return }
    if !probation.isEmpty { probation.removeFirst() } else { protected.removeFirst() }
    probation.append(candidate)
  }

  private mutating func balance() {
    while window.count > windowSize { probation.append(window.removeFirst()) }
    while protected.count > (probation.count + protected.count) * 4 / 5 { probation.append(protected.removeFirst()) }
  }

  private mutating func climb(_ isHit: Bool) {
    samples += 1
    sampleHits += isHit ? 1 : 0
    guard samples >= max(64, 10 * (window.count + probation.count + protected.count)) else { return }
    let ratio = Double(sampleHits) / Double(samples)
    (sampleHits, samples) = (0, 0)
    if let previous {
      if ratio < previous { step = -step }
      let taken = step
      step = abs(ratio - previous) >= 0.05 ? (step < 0 ? -0.0625 : 0.0625) : step * 0.98
      share = min(0.8, max(0.01, share + taken))
      while window.count < windowSize {
        if !probation.isEmpty {
          window.append(probation.removeFirst())
        } else if !protected.isEmpty {
          window.append(protected.removeFirst())
        } else {
          break
        }
      }
      balance()
    }
    previous = ratio
  }
}
