extension ContiguousArray {
  /// Makes the array at least so long, and an eighth longer where it has to grow.
  ///
  /// By itself an array takes room for as much again, and what a level knows of each entry lies in several. The price is
  /// that an element is copied eight times while an array grows, and not once.
  @inlinable
  @inline(__always)
  package mutating func grow(to length: Int, repeating element: Element) {
    if count < length { lengthen(to: length, repeating: element) }
  }

  @inlinable
  @inline(never)
  mutating func lengthen(to length: Int, repeating element: Element) {
    let longer = Swift.max(16, length + length / 8)
    reserveCapacity(longer)
    append(contentsOf: repeatElement(element, count: longer - count))
  }
}
