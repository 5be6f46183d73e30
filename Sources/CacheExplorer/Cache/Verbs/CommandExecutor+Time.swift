import CacheEngine
import CacheEngineTesting
import ExplorerModel
import ExplorerText

/// The commands about time and about what goes wrong.
extension CommandExecutor {
  func speed(_ speed: Double) async -> CommandResult {
    await timed("speed") { result in
      try pace().speed = speed
      result.note = speed == 1 ? "time passes as usual" : "time passes \(Format.number(speed)) times as fast"
    }
  }

  func advance(by duration: Duration) async -> CommandResult {
    // Not timed: the clock itself is what moves.
    var result = CommandResult(command: "advance", outcome: .ok, microseconds: 0)
    do {
      try pace().advance(by: duration)
      result.note = "it is \(Quantity.text(duration)) later for the cache"
    } catch {
      result.outcome = .error
      result.error = String(describing: error)
      result.isRefused = true
    }
    return result
  }

  func fault(_ name: String, _ change: FaultChange, seed: UInt64?) async -> CommandResult {
    await timed("fault") { result in
      let faults = try self.named(name).faults
      if let seed { faults.reseed(seed) }
      var fault = faults.fault
      switch change {
      case .errors(let share): fault.errors = share
      case .latency(let latency): fault.latency = latency == .zero ... .zero ? nil : latency
      case .down: fault.isDown = true
      case .off: fault = .none
      }
      faults.fault = fault
      result.note = "\(name): \(fault.told ?? "no fault")"
    }
  }

  private func pace() throws -> AdjustableClock {
    guard let pace = live.pace else {
      throw CommandFailure(message: "the clock of this cache cannot be set; open it with cache-explorer")
    }
    return pace
  }

}
