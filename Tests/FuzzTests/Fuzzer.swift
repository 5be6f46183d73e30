import Foundation

/// What libFuzzer calls with the bytes that it makes up; the environment names the target.
///
/// For the target `seeds` it writes the files that the others begin with.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  let done = DispatchSemaphore(value: 0)
  Task {
    do {
      if name == "seeds" {
        try await FuzzSeeds.write()
        _exit(0)
      }
      guard let target = FuzzTarget(rawValue: name) else {
        fatalError("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      try await target.run(bytes)
    } catch { fatalError("\(error)") }
    done.signal()
  }
  done.wait()
  return 0
}
