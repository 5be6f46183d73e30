import CacheEngineTesting
import CacheEngine
import ExplorerText
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState

struct EntryListTests {
  private static let levels = [
    LevelRow(name: "memory", kind: "memory"), LevelRow(name: "disk", kind: "disk"),
  ]

  private func picture(_ keys: Int) -> Picture {
    var picture = Picture(levels: Self.levels, now: Scene.start)
    for number in 0..<keys {
      picture.entries.stored(
        "key:\(number)", level: number % 2, cost: number * 100,
        deadline: number % 5 == 0 ? nil : Scene.start.advanced(by: .seconds(number)), at: Scene.start)
    }
    return picture
  }

  private func listed(_ picture: Picture, _ filter: String) -> [String] {
    var list = EntryList()
    list.sort = .key
    list.filter = EntryFilter(filter)
    list.refresh(picture, isForced: true)
    return list.order.window(list.order.indices).slots.map { picture.entries.rows[$0].key }
  }

  @Test("A filter asks for text, expressions, levels, times and sizes, and ! turns each round")
  func filters() {
    let picture = picture(12)
    #expect(listed(picture, "KEY:1") == ["key:1", "key:10", "key:11"])
    #expect(listed(picture, "/1$/") == ["key:1", "key:11"])
    #expect(listed(picture, "level:disk !/1/") == ["key:3", "key:5", "key:7", "key:9"])
    #expect(listed(picture, "ttl:<4s") == ["key:1", "key:2", "key:3"])
    #expect(listed(picture, "ttl:none") == ["key:0", "key:10", "key:5"])
    #expect(listed(picture, "size:>1000") == ["key:11"])
    #expect(listed(picture, "size:<1K !ttl:none level:mem") == ["key:2", "key:4", "key:6", "key:8"])
    #expect(listed(picture, "!level:memory !level:disk") == [])
    #expect(listed(picture, "hits:>0") == [])
    #expect(listed(picture, "age:<1s").count == 12)
  }

  @Test("A filter that is not understood says why, and its other words go on")
  func saysWhatIsWrong() {
    let picture = picture(12)
    for (text, word) in [("/(/ key:1", "“(”"), ("ttl:<4x key:1", "x"), ("size:>many key:1", "many")] {
      let filter = EntryFilter(text)
      #expect(filter.problem?.error.message.contains(word) == true, "\(filter.problem?.error.message ?? "nothing")")
      #expect(listed(picture, text) == ["key:1", "key:10", "key:11"])
    }
    #expect(EntryFilter("user:42").problem == nil)
  }

  @Test("Entries that no longer match as time goes by leave the list without an event")
  func followsTime() {
    var picture = picture(12)
    var list = EntryList()
    list.filter = EntryFilter("ttl:>4s")
    list.refresh(picture, isForced: true)
    #expect(list.order.count == 5)
    picture.advance(to: Scene.start.advanced(by: .seconds(4)))
    list.refresh(picture, isForced: false)
    #expect(list.order.count == 2)
  }

  @Test("What happened since the list was looked at brings another picture soon, and after that nothing moves")
  func catchesUp() {
    var scene = Scene(size: Size(width: 80, height: 24))
    #expect(scene.model.nextStep == nil)
    for (place, key) in ["a", "b"].enumerated() {
      scene.event(.stored(.set, cost: 5, deadline: nil, .zero), level: "memory", key: key)
      #expect(scene.model.list.order.count == place)
      #expect(scene.model.nextStep == .milliseconds(250))
      scene.pass(.milliseconds(250))
      #expect(scene.model.list.order.count == place + 1)
      #expect(scene.model.nextStep == nil)
    }
  }

  @Test("A list is refreshed by the reader's time, however fast the cache's passes", arguments: [0.001, 1, 1_000])
  func keepsTheReadersPace(speed: Double) {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.send(.speed(speed))
    scene.event(.stored(.set, cost: 5, deadline: nil, .zero), level: "memory", key: "a")
    scene.pass(.milliseconds(200) * speed)
    #expect(scene.model.list.order.count == 0)
    scene.pass(.milliseconds(100) * speed)
    #expect(scene.model.list.order.count == 1)
    // Nobody knows which key has left: the level is asked, a second after it was last asked.
    scene.event(.removed(.evicted, cost: 5), level: "memory")
    func effects(after pause: Duration) -> [Effect] {
      scene.send(.tick(Scene.start.advanced(by: pause * speed), wall: Scene.wall))
    }
    #expect(!effects(after: .milliseconds(900)).contains(.refreshEntries))
    #expect(effects(after: .milliseconds(1_100)).contains(.refreshEntries))
  }

  @Test("Every column sorts, and what changes moves to where a sort would put it", arguments: EntryList.Column.allCases)
  func staysSorted(column: EntryList.Column) {
    var picture = picture(400)
    var generator = SeededGenerator(seed: 5)
    var list = EntryList()
    list.sort = column
    list.isReversed = true
    list.refresh(picture, isForced: true)
    for step in 1...2_000 {
      let key = "key:\(Int.random(in: 0..<500, using: &generator))"
      let time = Scene.start.advanced(by: .milliseconds(step * 10))
      switch step % 4 {
      case 0: picture.entries.gone(key, level: step % 2)
      case 1: picture.entries.hit(key, level: 0, cost: step, deadline: time, at: time)
      default: picture.entries.stored(key, level: step % 2, cost: step * 3, deadline: nil, at: time)
      }
      if step % 50 == 0 {
        picture.advance(to: time)
        list.refresh(picture, isForced: false)
      }
    }
    picture.advance(to: Scene.start.advanced(by: .seconds(60)))
    list.refresh(picture, isForced: false)
    var fresh = EntryList()
    fresh.sort = column
    fresh.isReversed = true
    fresh.refresh(picture, isForced: true)
    #expect(list.order.count > 100)
    #expect(list.order.window(list.order.indices).slots == fresh.order.window(fresh.order.indices).slots)
  }

  @Test("With a million keys the list is of those used last, and a picture costs what changed and what is seen")
  func aMillionKeys() {
    var picture = picture(1_000_000)
    var list = EntryList()
    list.refresh(picture, isForced: true)
    #expect(list.order.count > EntryTable.capacity / 2 && list.order.count <= EntryTable.capacity)
    list.move(to: list.order.count / 2, in: picture)
    let before = list.order.work
    for number in 0..<200 {
      picture.entries.hit("key:\(number * 4_999)", level: 0, cost: nil, deadline: nil, at: Scene.start)
    }
    picture.advance(to: Scene.start.advanced(by: .seconds(1)))
    list.refresh(picture, isForced: false)
    list.keepVisible(rows: 30)
    #expect(list.order.work - before < 400_000)
    let window = list.order.window(list.top..<list.top + 30)
    #expect(window.slots.count == 30)
    #expect(window.work < 10_000)
    // Nothing changed: nothing is done.
    let idle = list.order.work
    picture.advance(to: Scene.start.advanced(by: .seconds(2)))
    list.refresh(picture, isForced: false)
    #expect(list.order.work == idle)
  }
}
