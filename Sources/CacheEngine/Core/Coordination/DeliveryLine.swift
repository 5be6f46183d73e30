private import CStore

/// What is still to be delivered, in order and one at a time.
///
/// Whoever leaves something in the line delivers it, on the same thread, if nothing of others stands before it. The rest is
/// handed over: to a queue of its owner's, which delivers until the line is empty. So nobody waits, nobody delivers for
/// others, and deliveries are never nested: who writes from within one leaves it in the line for the one who delivers.
///
/// The line is bounded. What does not fit is folded into the last item.
package struct DeliveryLine<Item: Sendable>: Sendable {
  /// Who may deliver an item besides the queue.
  package struct Writer: Equatable, Sendable {
    fileprivate var number: UInt64

    /// Nobody: the queue has to.
    package static var queue: Writer { Writer(number: 0) }
  }

  /// What there is to do for whoever delivers.
  package enum Step {
    /// To deliver this, and then to ask for the next step.
    case deliver(Item)
    /// To let the queue begin.
    case handOver
    case done
  }

  private let limit: Int
  private var line: [(item: Item, writer: Writer)?] = []
  private var first = 0
  private var lastWriter = Writer.queue
  private var deliverer: (writer: Writer, thread: UInt)?
  /// The queue was asked, and has not begun yet.
  private var isHandedOver = false

  /// Creates an empty line.
  ///
  /// - Parameter limit: The most items that wait. At least 1.
  package init(limit: Int = 4_096) { self.limit = limit }

  /// Who the caller is: within a delivery the one who delivers.
  package mutating func writer() -> Writer {
    if let deliverer, deliverer.thread == cstore_this_thread() { return deliverer.writer }
    lastWriter.number += 1
    return lastWriter
  }

  /// Leaves an item, or folds it into the last one if there is no room; that one is then the queue's.
  package mutating func append(_ item: Item, of writer: Writer, folding fold: (inout Item) -> Void) {
    guard line.count - first >= limit, var last = line.removeLast() else { return line.append((item, writer)) }
    fold(&last.item)
    line.append((last.item, .queue))
  }

  /// The first step of a writer, or of the queue, unless somebody delivers already.
  package mutating func begin(_ writer: Writer) -> Step {
    if writer == .queue { isHandedOver = false }
    guard deliverer == nil else { return .done }
    deliverer = (writer, cstore_this_thread())
    return next()
  }

  /// The next step of the one who delivers.
  package mutating func next() -> Step {
    guard first < line.count, let head = line[first] else {
      line = []
      first = 0
      deliverer = nil
      return .done
    }
    guard deliverer?.writer == .queue || deliverer?.writer == head.writer else {
      deliverer = nil
      defer { isHandedOver = true }
      return isHandedOver ? .done : .handOver
    }
    line[first] = nil
    first += 1
    // What is finished is dropped now and then, so that a line that never empties is no longer than what waits in it.
    if first > 64, first * 2 > line.count {
      line.removeFirst(first)
      first = 0
    }
    return .deliver(head.item)
  }
}
