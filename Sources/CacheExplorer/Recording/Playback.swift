import CacheEngine
import ExplorerModel
import ExplorerState
import ExplorerText

/// Where a replay stands: the picture, the model that makes it, and whether and how fast it goes on.
///
/// A value, so that every way through a recording can be tested without a screen or a clock.
struct Playback: Sendable {
  static let speeds: [Double] = [0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
  /// Between two models that are kept to go back to, at first.
  private static let firstSpacing = 64
  /// More are not kept.
  private static let mostKept = 128

  let recording: Recording
  /// The index of the picture that is shown.
  private(set) var place = 0
  /// How far it has come, in nanoseconds: from the picture that is shown on, and before the next one.
  private(set) var head: Int64 = 0
  /// What it is made of.
  private(set) var model: Model
  var isPlaying = true
  private(set) var speed = 1.0
  /// Why it goes no further than here.
  private(set) var failure: RecordingFailure?
  /// Pictures that were made and are not those that were shown.
  private(set) var differences: Set<Int> = []

  private var kept: [Int: Model] = [:]
  private var spacing = Self.firstSpacing

  init(_ recording: Recording, speed: Double = 1) {
    self.recording = recording
    model = recording.start.model
    self.speed = speed
    apply(0)
    kept[0] = model
    head = time
  }

  var time: Int64 { recording.pictures[place].at }
  var isAtEnd: Bool { place == recording.pictures.count - 1 || failure != nil }

  /// What is shown.
  var canvas: Canvas {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    return canvas
  }

  /// How long until the next picture, by the viewer's clock; `nil` at the end, or while it stands.
  var pause: Duration? {
    guard isPlaying, !isAtEnd else { return nil }
    let gap = max(0, recording.pictures[place + 1].at - head)
    return .nanoseconds(Int64(min(Double(gap) / speed, 9e18)))
  }

  private mutating func apply(_ picture: Int) {
    do {
      for message in try recording.messages(of: picture) { _ = update(&model, message) }
    } catch {
      failure = error
      isPlaying = false
    }
  }

  /// Goes to a picture; from a model that was kept if it lies before this one.
  mutating func go(to picture: Int) {
    move(to: picture)
    head = time
  }

  private mutating func move(to picture: Int) {
    let wanted = min(max(0, picture), recording.pictures.count - 1)
    if wanted < place || kept.keys.contains(where: { $0 <= wanted && $0 > place }) {
      guard let nearest = kept.keys.filter({ $0 <= wanted }).max(), let known = kept[nearest] else { return }
      (model, place, failure) = (known, nearest, nil)
    }
    while place < wanted, failure == nil {
      apply(place + 1)
      guard failure == nil else { return stand(at: place) }
      place += 1
      if place % spacing == 0 { keep() }
    }
  }

  /// Makes a picture again, since the messages of the next one were understood in part.
  private mutating func stand(at picture: Int) {
    let problem = failure
    let nearest = kept.keys.filter { $0 <= picture }.max() ?? 0
    (model, place, failure) = (kept[nearest] ?? recording.start.model, nearest, nil)
    while place < picture, failure == nil {
      apply(place + 1)
      place += 1
    }
    (failure, isPlaying) = (problem, false)
  }

  private mutating func keep() {
    kept[place] = model
    guard kept.count > Self.mostKept else { return }
    spacing *= 2
    kept = kept.filter { $0.key % spacing == 0 }
  }

  mutating func step(by count: Int) {
    isPlaying = false
    go(to: place + count)
  }

  mutating func go(toTime time: Int64) {
    let wanted = min(max(0, time), recording.length)
    move(to: recording.picture(at: wanted))
    head = failure == nil ? max(wanted, self.time) : self.time
  }

  /// Goes to the next or the last picture with a warning or an error; whether there is one.
  mutating func goToTrouble(forwards: Bool) -> Bool {
    guard let picture = recording.trouble(from: place, forwards: forwards) else { return false }
    isPlaying = false
    go(to: picture)
    return true
  }

  /// Goes on by so much of the viewer's time.
  mutating func pass(_ duration: Duration) {
    guard isPlaying else { return }
    let ahead = Double(duration.clampedNanoseconds) * speed
    go(toTime: CacheInstant(nanoseconds: head).advanced(by: .nanoseconds(Int64(min(ahead, 1e18)))).nanoseconds)
    if isAtEnd { isPlaying = false }
  }

  mutating func set(speed: Double) { self.speed = min(max(speed, 0.001), 1_000) }

  mutating func faster(_ isFaster: Bool) {
    let next =
      isFaster ? Self.speeds.first { $0 > speed } ?? speed : Self.speeds.last { $0 < speed } ?? speed
    speed = next
  }

  /// Compares the picture with what was shown; `nil` if the recording does not tell.
  mutating func isAsShown(_ canvas: Canvas) -> Bool? {
    guard let checksum = recording.pictures[place].checksum else { return nil }
    let isSame = checksum == canvas.checksum
    if !isSame { differences.insert(place) }
    return isSame
  }
}
