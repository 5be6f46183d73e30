/// The policies once more, as their papers have them, on arrays and dictionaries: slow, short, and written to share
/// nothing with the engine's.
enum ReferenceSimulation {
  static func hits(_ policy: String, capacity: Int, _ trace: [Int]) -> Int? {
    switch policy {
    case "fifo": fifo(capacity, trace)
    case "lru": lru(capacity, trace)
    case "clock": clock(capacity, trace)
    case "sieve": sieve(capacity, trace)
    case "s3fifo": s3fifo(capacity, trace)
    case "2q": twoQueue(capacity, trace)
    case "arc": arc(capacity, trace)
    case "opt": optimum(capacity, trace)
    default: nil
    }
  }

  private static func fifo(_ capacity: Int, _ trace: [Int]) -> Int {
    var held: [Int] = []
    var hits = 0
    for key in trace {
      if held.contains(key) {
        hits += 1
      } else {
        held.append(key)
        if held.count > capacity { held.removeFirst() }
      }
    }
    return hits
  }

  private static func lru(_ capacity: Int, _ trace: [Int]) -> Int {
    var held: [Int] = []
    var hits = 0
    for key in trace {
      if let index = held.firstIndex(of: key) {
        hits += 1
        held.remove(at: index)
      }
      held.append(key)
      if held.count > capacity { held.removeFirst() }
    }
    return hits
  }

  /// The ring with a hand.
  private static func clock(_ capacity: Int, _ trace: [Int]) -> Int {
    var ring: [(key: Int, isUsed: Bool)] = []
    var (hand, hits) = (0, 0)
    for key in trace {
      if let index = ring.firstIndex(where: { $0.key == key }) {
        hits += 1
        ring[index].isUsed = true
      } else if ring.count < capacity {
        ring.append((key, false))
      } else {
        while ring[hand].isUsed {
          ring[hand].isUsed = false
          hand = (hand + 1) % capacity
        }
        ring[hand] = (key, false)
        hand = (hand + 1) % capacity
      }
    }
    return hits
  }

  /// Newest first; the hand is an index and moves towards 0.
  private static func sieve(_ capacity: Int, _ trace: [Int]) -> Int {
    var held: [(key: Int, isVisited: Bool)] = []
    var (hand, hits) = (-1, 0)
    for key in trace {
      if let index = held.firstIndex(where: { $0.key == key }) {
        hits += 1
        held[index].isVisited = true
        continue
      }
      if held.count == capacity {
        if hand < 0 { hand = held.count - 1 }
        while held[hand].isVisited {
          held[hand].isVisited = false
          hand = hand == 0 ? held.count - 1 : hand - 1
        }
        held.remove(at: hand)
        hand -= 1
      }
      held.insert((key, false), at: 0)
      if hand >= 0 { hand += 1 }
    }
    return hits
  }

  private static func s3fifo(_ capacity: Int, _ trace: [Int]) -> Int {
    let smallSize = capacity / 10
    var (small, main, ghost): ([Int], [Int], [Int]) = ([], [], [])
    var frequency: [Int: Int] = [:]
    var hits = 0
    for key in trace {
      if let count = frequency[key] {
        hits += 1
        frequency[key] = min(count + 1, 3)
        continue
      }
      let wasGhost = ghost.contains(key)
      ghost.removeAll { $0 == key }
      while small.count + main.count == capacity {
        if main.count > capacity - smallSize || small.isEmpty {
          let oldest = main.removeFirst()
          if let count = frequency[oldest], count > 0 {
            frequency[oldest] = count - 1
            main.append(oldest)
          } else {
            frequency[oldest] = nil
          }
        } else {
          let oldest = small.removeFirst()
          if let count = frequency[oldest], count >= 2 {
            frequency[oldest] = 0
            main.append(oldest)
          } else {
            frequency[oldest] = nil
            ghost.append(oldest)
            if ghost.count > capacity - smallSize { ghost.removeFirst() }
          }
        }
      }
      if wasGhost { main.append(key) } else { small.append(key) }
      frequency[key] = 0
    }
    return hits
  }

  private static func twoQueue(_ capacity: Int, _ trace: [Int]) -> Int {
    let (inSize, outSize) = (max(1, capacity / 4), max(1, capacity / 2))
    var (a1in, a1out, am): ([Int], [Int], [Int]) = ([], [], [])
    var hits = 0
    for key in trace {
      if let index = am.firstIndex(of: key) {
        hits += 1
        am.append(am.remove(at: index))
      } else if a1in.contains(key) {
        hits += 1
      } else {
        let isKnown = a1out.contains(key)
        if isKnown { a1out.removeAll { $0 == key } }
        if a1in.count + am.count == capacity {
          if a1in.count > inSize || am.isEmpty {
            a1out.append(a1in.removeFirst())
            if a1out.count > outSize { a1out.removeFirst() }
          } else {
            am.removeFirst()
          }
        }
        if isKnown { am.append(key) } else { a1in.append(key) }
      }
    }
    return hits
  }

  /// Figure 4 of the paper, in its names.
  private static func arc(_ c: Int, _ trace: [Int]) -> Int {
    var (t1, t2, b1, b2): ([Int], [Int], [Int], [Int]) = ([], [], [], [])
    var p = 0.0
    var hits = 0
    func replace(_ isInB2: Bool) {
      if !t1.isEmpty, Double(t1.count) > p || (isInB2 && Double(t1.count) == p) {
        b1.append(t1.removeFirst())
      } else if !t2.isEmpty {
        b2.append(t2.removeFirst())
      } else {
        b1.append(t1.removeFirst())
      }
    }
    for x in trace {
      if t1.contains(x) || t2.contains(x) {
        hits += 1
        t1.removeAll { $0 == x }
        t2.removeAll { $0 == x }
        t2.append(x)
      } else if b1.contains(x) {
        p = min(Double(c), p + max(1, Double(b2.count) / Double(b1.count)))
        b1.removeAll { $0 == x }
        replace(false)
        t2.append(x)
      } else if b2.contains(x) {
        p = max(0, p - max(1, Double(b1.count) / Double(b2.count)))
        b2.removeAll { $0 == x }
        replace(true)
        t2.append(x)
      } else {
        if t1.count + b1.count == c {
          if t1.count < c {
            b1.removeFirst()
            replace(false)
          } else {
            t1.removeFirst()
          }
        } else if t1.count + t2.count + b1.count + b2.count >= c {
          if t1.count + t2.count + b1.count + b2.count == 2 * c { b2.removeFirst() }
          replace(false)
        }
        t1.append(x)
      }
    }
    return hits
  }

  /// Looks through everything held for what is needed last.
  private static func optimum(_ capacity: Int, _ trace: [Int]) -> Int {
    var uses: [Int: [Int]] = [:]  // still to come, the next one last
    for (position, key) in trace.enumerated().reversed() { uses[key, default: []].append(position) }
    var held: Set<Int> = []
    var hits = 0
    for key in trace {
      uses[key]?.removeLast()
      if held.contains(key) {
        hits += 1
        continue
      }
      if held.count == capacity, let last = held.max(by: { (uses[$0]?.last ?? .max) < (uses[$1]?.last ?? .max) }) {
        held.remove(last)
      }
      held.insert(key)
    }
    return hits
  }
}
