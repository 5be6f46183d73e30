import CacheEngine
package import ExplorerState
import ExplorerText

extension Model {
  /// What Enter does: follows the chosen line of what is inspected, or opens the request that the focused row is about.
  mutating func inspect() -> [Effect] {
    if let open = inspection {
      if case .request(let here) = open.subject, let record = shown.calls[here] {
        let targets = RequestText(record, self, width: Layout(self).inspector.width).targets
        if targets.indices.contains(open.choice) {
          go(to: targets[open.choice], from: open)
          return []
        }
      }
      refuse("this leads no further; Esc goes back")
      return []
    }
    return focus.panel.inspect(&self)
  }

  /// The request that the focused row is about.
  var chosenRequest: RequestID? { focus.panel.request(self) }

  mutating func open(_ request: RequestID) {
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
    case .row(let panel):
      let rect = InspectorPanel.place(self, Layout(self))
      let last = max(0, RowDetailPanel.count(panel, self, width: rect.width) - max(0, rect.height - 2))
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
    guard !isReplayed else {
      refuse("a recording has only the values that were looked at; they are in its pictures")
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
    return focus.panel.key(self)
  }

  /// Another configuration is in force: what is known starts over, but for the log.
  mutating func replace(by new: Replacement) {
    let log = live.log
    var picture = Picture(levels: new.levels, operators: new.operators, chain: new.chain, now: live.now)
    picture.log = log
    picture.continueCounting(from: live)
    live = picture
    (frozen, travel, inspection) = (nil, nil, nil)
    past = RecentPast()
    title = new.title
    askedAt = nil
    isUncertain = true
    command.answer = CommandLineState.Answer(isGood: true, text: "the configuration is in force; counters were reset")
  }

  /// Starts over with a program that was gone; what somebody looks at closely stays until they leave it.
  package mutating func attachedAgain(_ attachment: Attachment, _ new: Replacement) {
    let (still, seen) = (frozen, inspection)
    replace(by: new)
    self.attachment = attachment
    undoable = nil
    frozen = still
    // What happens from here on fits another picture, so nobody can step into it.
    switch seen?.subject {
    case .value?: inspection = seen
    case .request?, .row?: inspection = still == nil ? nil : seen
    case nil: break
    }
    command.answer = CommandLineState.Answer(isGood: true, text: "\(attachment.label); counters were reset")
  }
}
