import CacheEngine
import CacheEngineInspector
import ExplorerState

/// Tells what becomes of an app: how full its levels are, that it answers no longer or is gone, and that it is there again.
struct AppFollower: Sendable {
  /// An app that has said nothing for so long is asked for a sign of life, and has twice as long for that.
  private static let patience = Duration.seconds(2)

  let place: AppPlace
  /// Lets an app that is there again count from here on; `false` if it is followed no more.
  let begin: @Sendable (AppSession) -> Bool

  /// Until the task is cancelled.
  func follow(_ first: AppSession, _ follower: Follower) async {
    var session = first
    while let why = await ending(of: session, follower) {
      var attachment = session.cache.attachment
      attachment.ended = why
      attachment.whyReadOnly = "\(why); it is attached again as soon as it listens at \(place.path)"
      follower.post(.attachment(attachment))
      log("\(why), trying again; what is shown is what was known last", .warning, session, follower)
      guard let next = await again(attachment, session, follower) else { return }
      await follower.use(next.cache.live)
      follower.post(.attachedAgain(next.cache.attachment, next.cache.replacement))
      // What it told meanwhile comes after that.
      guard begin(next) else { return next.client.close() }
      let (app, pid) = (next.client.welcome, session.client.welcome.pid)
      session = next
      // It had hung up, as it does on those who take nothing for long.
      let same = app.pid == pid ? ", the process of before" : ""
      log("attached again (pid \(app.pid)) to \(app.app)\(same); counters were reset", .notice, session, follower)
    }
  }

  /// Hands on what a session tells until its app is gone.
  ///
  /// - Returns: Why it is gone; `nil` if the task was cancelled.
  private func ending(of session: AppSession, _ follower: Follower) async -> String? {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watch(session, follower) }
      let why = await self.news(of: session, follower)
      group.cancelAll()
      return why
    }
  }

  /// Tells that an app answers nothing any more, as one that is stopped, and that it does again.
  private func watch(_ session: AppSession, _ follower: Follower) async {
    var heard = session.client.heardAt
    // Turns and not time: who was stopped with the app need not find it silent.
    var turns = 0
    var isSilent = false
    while true {
      do { try await follower.pause(Self.patience) } catch { return }
      // Leaving is for the other task to tell.
      guard session.client.ending == nil else { return }
      if session.client.heardAt == heard {
        turns += 1
        if turns == 1 { session.client.knock() }
        guard turns == 3 else { continue }
        isSilent = true
        let clock = session.cache.live.clock
        var attachment = session.cache.attachment
        attachment.silentSince = clock.timeSinceEpoch - heard.duration(to: SystemClock().now)
        follower.post(.attachment(attachment))
        log(
          "the app does not answer: it may be stopped, or busy for long; what is shown is what was known last",
          .warning, session, follower)
      } else {
        (heard, turns) = (session.client.heardAt, 0)
        guard isSilent else { continue }
        isSilent = false
        follower.post(.attachment(session.cache.attachment))
        log("the app answers again", .notice, session, follower)
      }
    }
  }

  private func news(of session: AppSession, _ follower: Follower) async -> String? {
    var toldOfOthers = false
    while !Task.isCancelled {
      for told in await session.inlet.mailbox.take() {
        switch told {
        case .usage(let usage): follower.post(.usage(usage))
        // The counts come behind the events that they count.
        case .counts: follower.post(.events([], lost: 0))
        // Leaving ends the connection as well, which is no news of the app.
        case .ended(let why): return Task.isCancelled ? nil : why
        case .events, .hearing: break
        }
        guard !toldOfOthers, session.inlet.hasOtherNames else { continue }
        toldOfOthers = true
        log(
          "the app names more than \(ToldNames.most) levels and reasons; those beyond them count as “\(ToldNames.others)”",
          .warning, session, follower)
      }
    }
    return nil
  }

  /// Tries until the app is there again; `nil` if the task was cancelled.
  private func again(
    _ gone: Attachment, _ session: AppSession, _ follower: Follower
  ) async -> AppSession? {
    var pace = RetryPace()
    var complaint: String?
    while true {
      do { try await follower.pause(pace.next()) } catch { return nil }
      do {
        let next = try await AppSession.open(place, isAgain: true)
        guard !Task.isCancelled else { return nil }
        return next
      } catch let error as CacheError where error.code == .unreachable {
        // Nobody listens: what is expected of an app that is gone.
      } catch is CancellationError {
        return nil
      } catch {
        let text = (error as? CacheError)?.message ?? String(describing: error)
        guard text != complaint else { continue }
        complaint = text
        var refused = gone
        (refused.ended, refused.whyReadOnly) = (text, text)
        follower.post(.attachment(refused))
        log("\(text); trying again", .warning, session, follower)
      }
    }
  }

  private func log(_ text: String, _ level: LogLevel, _ session: AppSession, _ follower: Follower) {
    let time = session.cache.live.clock.timeSinceEpoch
    follower.post(.log([LogLine(time: time, level: level, source: "explorer", text: text)], lost: 0))
  }
}
