import CacheEngine
import Testing

@Suite struct DeliveryLineTests {
  typealias Line = DeliveryLine<[Int]>
  var line = Line(limit: 3)

  @discardableResult
  mutating func leave(_ number: Int, of writer: Line.Writer? = nil) -> Line.Writer {
    let writer = writer ?? line.writer()
    line.append([number], of: writer) { $0.append(number) }
    return writer
  }

  enum Seen: Equatable { case item([Int]), handOver, done }

  func seen(_ step: Line.Step) -> Seen {
    switch step {
    case .deliver(let item): .item(item)
    case .handOver: .handOver
    case .done: .done
    }
  }

  mutating func begin(_ writer: Line.Writer) -> Seen { seen(line.begin(writer)) }
  mutating func next() -> Seen { seen(line.next()) }

  @Test("a writer delivers what it has left, and nothing that others left behind it")
  mutating func ownOnly() {
    let (first, second) = (leave(1), leave(2))
    expect(begin(first) == .item([1]))
    expect(next() == .handOver)
    // The queue was asked already; whoever stands first may deliver until it comes.
    expect(begin(first) == .done)
    expect(begin(second) == .item([2]))
    expect(next() == .done)
    expect(begin(.queue) == .done)
  }

  @Test("a writer with others before it hands over, once until the queue has begun")
  mutating func handsOver() {
    leave(1)
    let (second, third) = (leave(2), leave(3))
    expect(begin(second) == .handOver)
    expect(begin(third) == .done)
    expect(begin(.queue) == .item([1]))
    expect(next() == .item([2]))
    leave(4)
    expect(next() == .item([3]))
    expect(next() == .item([4]))
    expect(next() == .done)
    expect(begin(leave(5)) == .item([5]))
  }

  @Test("while somebody delivers nobody else begins")
  mutating func oneAtATime() {
    let first = leave(1)
    expect(begin(first) == .item([1]))
    expect(begin(.queue) == .done)
    expect(next() == .done)
  }

  @Test("what is left from within a delivery is delivered by the same writer, after it")
  mutating func nested() {
    let first = leave(1)
    expect(begin(first) == .item([1]))
    let inner = leave(2)
    expect(inner == first)
    expect(begin(inner) == .done)
    expect(next() == .item([2]))
    expect(next() == .done)
    expect(leave(3) != first)
  }

  @Test("a full line folds what comes into its last item, which is then the queue's, and takes more when there is room")
  mutating func bounded() {
    let writer = line.writer()
    for number in 1...6 { leave(number, of: writer) }
    expect(begin(writer) == .item([1]))
    leave(7, of: writer)
    leave(8, of: writer)
    expect(next() == .item([2]))
    expect(next() == .handOver)
    expect(begin(.queue) == .item([3, 4, 5, 6]))
    expect(next() == .item([7, 8]))
    expect(next() == .done)
  }

  @Test("a line that never empties stays short, and in order")
  mutating func neverEmpty() {
    var long = Line()
    let writer = long.writer()
    var expected = 0
    long.append([0], of: writer) { _ in }
    var step = long.begin(writer)
    for number in 1...1_000 {
      long.append([number], of: writer) { _ in }
      expect(seen(step) == .item([expected]))
      expected += 1
      step = long.next()
    }
  }
}
