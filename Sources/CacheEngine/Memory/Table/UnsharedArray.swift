/// An array of plain elements that is not asked, whenever it is changed, whether somebody else has it, too.
///
/// An evicting set changes seven arrays of the adaptive policy, and to ask each of them took a twentieth of its instructions.
/// A copy of the reference is the same array: who copies a policy goes on with one of the two.
@safe
final class UnsharedArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  // Unchecked: it is part of one policy, which one thread changes at a time.

  /// Where the first of ``count`` elements lies; the place changes when the array grows.
  private(set) var start: UnsafeMutablePointer<Element>
  private(set) var count: Int

  init(repeating element: Element, count: Int) {
    self.count = count
    unsafe start = .allocate(capacity: count)
    unsafe start.initialize(repeating: element, count: count)
  }

  deinit { unsafe start.deallocate() }

  @inline(__always)
  subscript(index: Int) -> Element {
    get {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "there is no such element")
      return unsafe start[index]
    }
    set {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "there is no such element")
      unsafe start[index] = newValue
    }
  }

  /// Makes the array at least so long, and an eighth longer where it has to grow.
  @inline(__always)
  func grow(to length: Int, repeating element: Element) {
    if count < length { lengthen(to: max(16, length + length / 8), repeating: element) }
  }

  @inline(never)
  private func lengthen(to length: Int, repeating element: Element) {
    let longer = UnsafeMutablePointer<Element>.allocate(capacity: length)
    unsafe longer.moveInitialize(from: start, count: count)
    unsafe (longer + count).initialize(repeating: element, count: length - count)
    unsafe start.deallocate()
    unsafe start = longer
    count = length
  }
}
