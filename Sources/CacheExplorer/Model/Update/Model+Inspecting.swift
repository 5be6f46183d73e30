import CacheEngine
import ExplorerText

extension Model {
  /// What Enter does: follows the chosen line of what is inspected, or opens the request that the focused row is about.
  mutating func inspect() -> [Effect] {
    if let open = inspection {
      guard case .request(let here) = open.subject, let record = shown.calls[here] else { return [] }
      let targets = RequestText(record, self, width: Layout(self).inspector.width).targets
      guard targets.indices.contains(open.choice) else { return [] }
      go(to: targets[open.choice], from: open)
      return []
    }
    switch focus {
    case .relations: models.follow()
    case .models: focus = .relations
    case .levels: drill()
    case .whatIf: mode = .explaining
    case .config, .latency:
      if focus == .latency, let worst = worstRequest { open(worst) } else { mode = .explaining }
    default:
      guard let request = chosenRequest else {
        refuse(missing)
        return []
      }
      open(request)
    }
    return []
  }

  /// The request that the focused row is about.
  var chosenRequest: RequestID? {
    switch focus {
    case .requests: requestList.current
    case .entries: list.current(in: shown).flatMap { shown.calls.latest(of: $0.key) }
    case .inFlight:
      shown.inFlight.indices.contains(inFlightCursor) ? shown.inFlight[inFlightCursor].leader : nil
    case .log: logLine.flatMap { shown.log[$0]?.request }
    case .latency: worstRequest
    case .config, .models, .relations, .levels, .whatIf: nil
    }
  }

  private var missing: String {
    switch focus {
    case .entries: "no request for this key is among the last \(Format.count(RequestLog.capacity))"
    case .log: "this line belongs to no request"
    default: "there is nothing to inspect"
    }
  }

  private var worstRequest: RequestID? {
    shown.traffic.compactMap(\.worst).max { $0.nanoseconds < $1.nanoseconds }?.request
  }

  private mutating func open(_ request: RequestID) {
    guard shown.calls[request] != nil else {
      return refuse("\(request) is no longer among the last \(Format.count(RequestLog.capacity)) requests")
    }
    inspection = Inspection(.request(request))
  }

  private mutating func go(to target: Inspection.Target, from open: Inspection) {
    switch target {
    case .request(let id):
      guard shown.calls[id] != nil else {
        return refuse("\(id) is no longer among the last \(Format.count(RequestLog.capacity)) requests")
      }
      var next = Inspection(.request(id))
      if case .request(let here) = open.subject { next.path = open.path + [here] }
      inspection = next
    case .event(let number):
      guard let line = shown.log.line(ofEvent: number) else {
        return refuse("event \(Format.count(number)) is no longer in the log")
      }
      show(.log)
      log.go(to: line, in: shown.log, rows: max(1, Layout(self).rows(.log)))
    }
  }

  mutating func moveInspection(by distance: Int) {
    guard let open = inspection else { return }
    switch open.subject {
    case .value:
      let last = ValuePanel.lastTop(self)
      inspection?.top = min(max(0, open.top.addingReportingOverflow(distance).partialValue), last)
    case .request(let id):
      guard let record = shown.calls[id] else { return }
      let count = RequestText(record, self, width: Layout(self).inspector.width).targets.count
      inspection?.choice = min(max(0, open.choice.addingReportingOverflow(distance).partialValue), max(0, count - 1))
    }
  }

  /// What v does: asks for the value of the key that the focused row is about.
  mutating func showValue() -> [Effect] {
    if case .value? = inspection?.subject {
      inspection = nil
      return []
    }
    guard let key = chosenKey else {
      refuse("no key is chosen here")
      return []
    }
    let level = levelHolding(key)
    inspection = Inspection(.value(ValueSight(key: key, level: level)))
    return [.readValue(key: key, level: level)]
  }

  var chosenKey: String? {
    if case .value(let sight)? = inspection?.subject { return sight.key }
    if case .request(let id)? = inspection?.subject { return shown.calls[id]?.key }
    if focus == .entries { return list.current(in: shown)?.key }
    return chosenRequest.flatMap { shown.calls[$0]?.key }
  }

  /// A configuration was read again: asks whether to apply what it changes.
  package mutating func planned(_ plan: ConfigSheet.Plan) {
    show(.config)
    config.plan = plan
    config.top = 0
    switch plan {
    case .refused(let problems):
      refuse("the configuration cannot be loaded: \(problems.first.map(\.description) ?? "no reason given")")
    case .changes([]):
      config.plan = nil
      command.answer = CommandLineState.Answer(isGood: true, text: "reload: nothing has changed")
    case .changes(let lines):
      if let whyReadOnly { return refuse(whyReadOnly) }
      let noun = lines.count == 1 ? "change" : "changes"
      mode = .confirming(
        Confirmation(command: nil, question: "apply \(lines.count) \(noun)? The levels are closed and opened again"))
    }
  }

  /// Another configuration is in force: what is known begins anew, but for the log.
  mutating func replace(by new: Replacement) {
    let log = live.log
    var picture = Picture(levels: new.levels, operators: new.operators, chain: new.chain, now: live.now)
    picture.log = log
    picture.continueCounting(from: live)
    live = picture
    (frozen, travel, inspection) = (nil, nil, nil)
    title = new.title
    config = new.config
    list.refresh(live, isForced: true)
    refreshRequests()
    askedAt = nil
    isUncertain = true
    command.answer = CommandLineState.Answer(isGood: true, text: "the configuration is in force; counters began anew")
  }

  /// Begins anew with a program that was gone; what somebody looks at closely stays until they leave it.
  package mutating func attachedAgain(_ attachment: Attachment, _ new: Replacement) {
    let (still, seen) = (frozen, inspection)
    replace(by: new)
    self.attachment = attachment
    whatIf = WhatIfSheet()
    undoable = nil
    frozen = still
    // What happens from here on fits another picture, so nobody can step into it.
    switch seen?.subject {
    case .value?: inspection = seen
    case .request?: inspection = still == nil ? nil : seen
    case nil: break
    }
    list.refresh(shown, isForced: true)
    refreshRequests()
    command.answer = CommandLineState.Answer(isGood: true, text: "\(attachment.label); counters began anew")
  }
}
