import Testing

#if Redis
import CacheEngineRedis
#endif

@testable import ExplorerModel
@testable import ExplorerState

struct MonitorReaderTests {
  private func read(_ lines: String...) -> MonitoredTraffic {
    var reader = MonitorReader()
    for line in lines { reader.take(line, database: 0) }
    return reader.traffic(lasted: .seconds(1), isCut: false)
  }

  @Test("Reads and writes are counted by prefix, of the database that is looked at, and other commands are not")
  func counts() {
    let traffic = read(
      #"1700000000.1 [0 127.0.0.1:5] "GET" "user:1""#, #"1700000000.1 [0 127.0.0.1:5] "mget" "user:1" "feed/2""#,
      #"1700000000.2 [0 127.0.0.1:6] "SET" "user:1" "GET user:7 \" \\""#, #"1700000000.2 [3 127.0.0.1:6] "GET" "a""#,
      #"1700000000.3 [0 lua] "MSET" "x" "1" "y" "2""#, #"1700000000.3 [0 127.0.0.1:6] "INFO""#, "nonsense", "[", "[0 a]"
    )
    #expect(traffic.commands == 5)
    #expect(traffic.reads == 3)
    #expect(traffic.writes == 3)
    #expect(traffic.clients == 3)
    #expect(traffic.keys == 4)
    #expect(traffic.prefixes.map(\.name) == ["user:", "(none)", "feed/"])
    #expect(traffic.prefixes.map(\.reads) == [2, 0, 1])
    #expect(traffic.prefixes.map(\.writes) == [1, 2, 0])
  }

  @Test("Clients with addresses of IPv6 are told apart, and a bracket in a key is part of it")
  func brackets() {
    let traffic = read(
      #"1.0 [0 [::1]:5000] "GET" "k""#, #"1.0 [0 [::1]:5001] "GET" "k""#, #"1.0 [0 [::1]:5001] "GET" "a] \"b""#,
      #"1.0 [3 [::1]:5002] "GET" "k""#)
    #expect(traffic.clients == 2)
    #expect(traffic.reads == 3)
    #expect(traffic.keys == 2)
    // What one has read is in no other's memory.
    #expect(traffic.fronts.first?.hits == 0)
  }

  @Test("Stamps, which a look-up in a namespace asks for with each key, are no reads; names that only look so are")
  func stamps() {
    let traffic = read(
      #"1.0 [0 c] "MGET" "photos:r:a" "photos:s:" "photos:g:""#, #"1.0 [0 c] "MGET" "{photos}:s:" "{photos}:r:b""#,
      #"1.0 [0 c] "MGET" "photos:s:a" "photos:r:g:" ":s:""#, #"1.0 [0 c] "SET" "photos:s:" "stamp""#)
    #expect(traffic.commands == 4)
    #expect(traffic.reads == 5)
    #expect(traffic.writes == 1)
    #expect(traffic.keys == 6)
  }

  @Test("A memory in each client answers what that client has read and nobody has written since")
  func fronts() {
    func get(_ client: Int, _ key: String) -> String { "1.0 [0 c:\(client)] \"GET\" \"\(key)\"" }
    func set(_ client: Int, _ key: String) -> String { "1.0 [0 c:\(client)] \"SET\" \"\(key)\" \"v\"" }
    // Hits: the second and third read of client 1, the read of the writer, and not the one after another's write.
    #expect(
      read(get(1, "a"), get(1, "a"), get(1, "a"), get(2, "a"), set(2, "a"), get(2, "a"), get(1, "a")).fronts.first?.hits
        == 3)
  }

  @Test("A memory that is too small forgets what was used longest ago")
  func small() {
    var reader = MonitorReader()
    for turn in 0..<3 {
      for key in 0..<101 {
        reader.take("1.0 [0 c] \"GET\" \"\(key)\"", database: 0)
        // Used all the time, it stays.
        reader.take("1.0 [0 c] \"GET\" \"hot\"", database: 0)
        _ = turn
      }
    }
    let fronts = reader.traffic(lasted: .seconds(1), isCut: false).fronts
    #expect(fronts.map(\.entries) == [100, 1_000])
    #expect(fronts[0].hits == 302)
    #expect(fronts[1].hits == 302 + 202)
  }

  // To ask every client at every write would take an hour.
  @Test("Each request may come over a connection of its own, as those of many web servers do", .timeLimit(.minutes(10)))
  func manyClients() {
    var reader = MonitorReader()
    let count = 100_000
    for client in 0..<count {
      reader.take("1.0 [0 c:\(client)] \"SET\" \"a:\(client % 1_000)\" \"v\"", database: 0)
      reader.take("1.0 [0 c:\(client)] \"GET\" \"a:\(client % 1_000)\"", database: 0)
    }
    let traffic = reader.traffic(lasted: .seconds(1), isCut: true)
    #expect(traffic.clients == count)
    #expect(traffic.fronts == [MonitoredTraffic.Front(entries: 100, hits: count)])
  }

  #if Redis
  @Test("What a server says of the largest keys that are looked at does not overflow")
  func largest() {
    let most = RedisInspection.mostBytes
    let keys = (0..<100_000).map { (name: "\($0)", bytes: most as Int?, left: nil as Duration?) }
    #expect(KeyspaceSheet.prefixes(of: keys).map(\.bytes) == [100_000 * most])
  }
  #endif

  @Test("Prefixes are summed up, the largest first, and how long half of what expires lives")
  func prefixes() {
    let keys: [(name: String, bytes: Int?, left: Duration?)] = [
      ("a:1", 10, .seconds(5)), ("a:2", 30, .seconds(9)), ("a:3", nil, nil), ("b/1", 900, nil),
      ("alone", 5, .seconds(1)),
      (":odd", 1, nil),
    ]
    let prefixes = KeyspaceSheet.prefixes(of: keys)
    #expect(prefixes.map(\.name) == ["b/", "a:", "(none)"])
    #expect(prefixes[1].keys == 3)
    #expect(prefixes[1].bytes == 40)
    #expect(prefixes[1].largestBytes == 30)
    #expect(prefixes[1].unlimited == 1)
    #expect(prefixes[1].medianLeft == .seconds(9))
    #expect(prefixes[0].medianLeft == nil)
    let many = KeyspaceSheet.prefixes(of: (0..<700).map { ("\($0):a", 1, nil) })
    #expect(many.count == 501)
    #expect(many.last?.name == KeyspaceSheet.others)
    #expect(many.last?.keys == 200)
  }
}
