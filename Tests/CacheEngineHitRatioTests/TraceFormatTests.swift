import CacheEngine
import CacheEngineHitRatio
import CacheEngineTransformers
import Foundation
import Testing

@Suite final class TraceFormatTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "formats-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ data: Data, _ name: String = "trace") throws -> String {
    let url = folder.appending(path: name)
    try data.write(to: url)
    return url.path
  }

  private func read(_ text: String, _ name: String = "trace", as format: TraceFormat? = nil) throws -> RequestTrace {
    try RequestTrace(contentsOf: try file(Data(text.utf8), name), format: format)
  }

  private func message(_ body: () throws -> RequestTrace) -> String {
    let error = #expect(throws: CacheError.self) { try body() }
    #expect(error?.code == .invalidTrace)
    return error?.message ?? ""
  }

  /// Keys, format and the names that the reader gives out.
  private func names(_ text: String, _ name: String = "trace") throws -> ([String], TraceFormat?) {
    var lines = try TraceLines(path: try file(Data(text.utf8), name))
    var names: [String] = []
    while let request = try lines.next() { names.append(request.key) }
    return (names, lines.format)
  }

  // MARK: - Access logs

  private static let combined = #"""
    203.0.113.9 - - [22/Nov/2026:20:58:29 +0000] "GET /a.html?x=1 HTTP/1.1" 200 2326 "-" "curl/8.5.0"
    203.0.113.9 - ada [22/Nov/2026:20:58:30 +0000] "HEAD /a.html?x=1 HTTP/2.0" 200 0 "-" "Mozilla/5.0 \"odd\""
    2001:db8::1 - - [22/Nov/2026:20:58:30 +0000] "POST /form HTTP/1.1" 303 178 "https://example.com/\"" "-"
    203.0.113.7 - - [22/Nov/2026:20:58:31 +0000] "GET /say/\"hi\" HTTP/1.1" 200 12 "-" "-"
    203.0.113.7 - - [22/Nov/2026:20:58:32 +0000] "\x16\x03\x01" 400 157 "-" "-"
    203.0.113.7 - - [22/Nov/2026:20:58:32 +0000] "-" 408 0 "-" "-"
    203.0.113.9 - - [22/Nov/2026:20:58:33 +0000] "GET /a.html?x=1 HTTP/1.1" 304 0 "-" "-"

    """#

  @Test("a combined log gives its GETs and HEADs, with the size of the last whole answer")
  func combinedLog() throws {
    let (keys, format) = try names(Self.combined)
    #expect(format == .log)
    #expect(keys == ["/a.html?x=1", "/a.html?x=1", #"/say/\"hi\""#, "/a.html?x=1"])
    let trace = try read(Self.combined)
    #expect(trace.sizes == [2_326, 2_326, 12, 2_326])
    #expect(trace.skipped == 3)
  }

  @Test("a common log, Apache's with virtual hosts, and varnishncsa's are read alike")
  func otherLogs() throws {
    let common = #"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 -"#
    #expect(try names(common) == (["/apache_pb.gif"], .log))
    #expect(try read(common).sizes == [0])
    let host = #"www.example.com:80 10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 5000000000 "-" "-""#
    #expect(try read(host).sizes == [.max])
    let zone = #"h - - [10/Oct/2000:13:55:36 +9223372036854775807] "GET / HTTP/1.1" 200 1"#
    #expect(try names(zone) == (["/"], .log))
    let varnish =
      #"10.0.0.1 - - [22/Nov/2026:20:58:29 +0000] "GET http://example.com/a b HTTP/1.1" 206 100 "-" "x""# + "\r\n"
    #expect(try names(varnish) == (["http://example.com/a b"], .log))
    #expect(try read(varnish).sizes == nil)
    #expect(try names(common.replacing(" HTTP/1.0", with: "")).0 == ["/apache_pb.gif"])
    #expect(try names("[2001:db8::1]:443 " + common) == (["/apache_pb.gif"], .log))
  }

  @Test("what Varnish did not answer itself is no read, and bytes that a server wrote as they came are read")
  func unanswered() throws {
    let line = #"10.0.0.1 - - [22/Nov/2026:20:58:29 +0000] "PURGE http://example.com/a HTTP/1.1" - - "-" "-""# + "\n"
    #expect(try read(Self.combined + line).skipped == 4)
    let raw = Data(#"h - - [22/Nov/2026:20:58:29 +0000] "GET /"#.utf8) + [0xff] + Data("\" 200 5\n".utf8)
    #expect(try RequestTrace(contentsOf: try file(Data(Self.combined.utf8) + raw)).distinct == 3)
  }

  @Test("what is no whole answer tells no size; it is as in the whole answer before, or else behind")
  func sizesOfAnswers() throws {
    let answers = [("304", 0), ("499", 0), ("200", 50), ("206", 7), ("400", 0), ("503", 9), ("404", 40), ("301", 30)]
    let log = answers.map { #"h - - [22/Nov/2026:20:58:29 +0000] "GET /a HTTP/1.1" \#($0.0) \#($0.1)"# + "\n" }
    #expect(try read(log.joined()).sizes == [30, 30, 50, 50, 50, 50, 40, 30])
    let json = answers.map { #"{"uri":"/a","status":\#($0.0),"body_bytes_sent":"\#($0.1)"}"# + "\n" }
    #expect(try read(json.joined()).sizes == [30, 30, 50, 50, 50, 50, 40, 30])
    let heads = #"{"uri":"/a","method":"HEAD","size":0}"# + "\n" + #"{"uri":"/a","method":"GET","size":5}"# + "\n"
    #expect(try read(heads).sizes == [5, 5])
  }

  @Test("a line may be as long as servers write one, even the first, and not endless")
  func longLines() throws {
    let field = String(repeating: #"\xFF"#, count: 60_000)
    let line = #"h - - [22/Nov/2026:20:58:29 +0000] "GET /a HTTP/1.1" 200 5 "-" "\#(field)""# + "\n"
    #expect(try names(line + Self.combined + line).0.count == 6)
    #expect(try names(line).1 == .log)
    let long = #"h - - [22/Nov/2026:20:58:29 +0000] "GET /\#(field) HTTP/1.1" 200 5"# + "\n"
    #expect(try names(long + Self.combined).1 == .log)
  }

  @Test(
    "a line of a log that is none is told with its number",
    arguments: [
      (#"203.0.113.9 - - [22/Nov/2026:20:58:29 +0000] "GET /a HT"#, "no request in quotation marks"),
      (#"203.0.113.9 - - [22/Nov/2026:20:58:29 +0000] "GET /a HTTP/1.1" 200"#, "no status and size"),
      (#"203.0.113.9 - - [22/Nov/2026:20:58:29 +0000] "GET /a HTTP/1.1" 200 12x "-""#, "no status and size"),
      (#"203.0.113.9 - - "GET /a HTTP/1.1" 200 12"#, "no time in brackets"),
      ("[", "no time in brackets"),
      (#"203.0.113.9 - - [22/Nov/2026:20:58:29 +0000] "GET /a\"#, "no request in quotation marks"),
      ("\u{0}\u{0}\u{0}", "no time in brackets"),
    ])
  func badLog(line: String, part: String) throws {
    let message = message { try read(Self.combined + line + "\n" + Self.combined) }
    #expect(message.contains("line 8 has \(part)"))
    #expect(message.contains("or leave the line out"))
  }

  // MARK: - JSON

  @Test("JSON lines give the fields that are named, as numbers or as text")
  func json() throws {
    let text = """
      {"time":"2026-11-22T20:58:29Z","uri":"/a","bytes":"120","nested":{"key":"no"}}

      {"ts":1.5,"url":"/b","size":7,"method":"GET"}
      {"timestamp":2,"path":"/a","method":"DELETE","size":1}
      {"target":"/ü\\u0041","key":"k\\"1","size":null}
      {"key":12}
      """
    #expect(try names(text) == (["/a", "/b", "k\"1", "12"], .json))
    let trace = try read(text)
    #expect(trace.sizes == [120, 7, 0, 0])
    #expect(trace.skipped == 1)
    let good = "{\"key\":\"a\"}\n{\"key\":\"b\"}\n"
    #expect(message { try read(good + "{\"key\":\"a\"") }.contains("line 3 is no JSON object"))
    #expect(message { try read(good + "{\"name\":\"a\"}") }.contains("line 3 has no key; name it key, url"))
    #expect(message { try read(good + "{\"key\":[]}") }.contains("line 3 has no key"))
    #expect(message { try read(good + "{\"key\":\"a\",\"size\":-1}") }.contains("line 3 has “-1” for a size"))
    #expect(message { try read(good + "{\"key\":\"a\",\"size\":[]}") }.contains("for a size"))
    let deep = "{\"key\":" + String(repeating: "[", count: 60_000)
    #expect(message { try read(good + deep) }.contains("line 3 is no JSON object"))
    #expect(message { try read("{\"key\":\"a\"") }.contains("line 1 is no JSON object"))
    #expect(try names("{user:1}:name\n").1 == .text)
    // An array is meant as JSON, and no key.
    for array in ["[{\"key\":\"a\"},{\"key\":\"b\"}]\n", "[\n  {\n    \"key\": \"a\"\n  }\n]\n"] {
      #expect(message { try read(array) }.contains("line 1 is no JSON object"))
    }
    #expect(try names("[a]\n{b}\n").1 == .text)
  }

  @Test("nginx's variables are understood under their own names, and what was no request is no read")
  func nginx() throws {
    let text = """
      {"time_local":"22/Nov/2026:20:58:29 +0000","request_method":"GET","request_uri":"/a","body_bytes_sent":"12"}
      {"time_local":"22/Nov/2026:20:58:30 +0000","request_method":"POST","request_uri":"/a","body_bytes_sent":"3"}
      {"time_local":"22/Nov/2026:20:58:30 +0000","request_method":"","request_uri":"","body_bytes_sent":"157"}
      {"request_uri":"","status":400}
      """
    #expect(try read(text).sizes == [12])
    #expect(try read(text).skipped == 3)
    var lines = try TraceLines(path: try file(Data(text.utf8)))
    #expect(try lines.next()?.time == .seconds(1_795_381_109))
    // It escapes quotation marks in JSON, and no bytes that are not UTF-8.
    let raw = Data(#"{"request_uri":"/"#.utf8) + [0xff] + Data("\"}\n".utf8)
    #expect(try RequestTrace(contentsOf: try file(raw + raw)).distinct == 1)
  }

  @Test("The JSON lines of a proxy give the size of the last whole answer")
  func jsonOfServer() throws {
    let lines = [
      #"{"path":"/a","method":"GET","status":200,"bytes":9,"whole":true}"#,
      #"{"path":"/a","method":"GET","status":304,"bytes":0,"whole":true}"#,
      #"{"path":"/a","method":"GET","status":"206","bytes":2}"#,
      #"{"path":"/a","method":"HEAD","status":200,"bytes":0,"whole":true}"#,
      #"{"path":"/a","method":"GET","status":200,"bytes":4,"whole":false}"#,
      #"{"path":"/a","method":"GET","status":499,"bytes":0,"whole":false}"#,
      #"{"path":"-","method":"-","status":400,"bytes":0,"whole":true}"#,
    ]
    let trace = try read(lines.joined(separator: "\n"))
    #expect(trace.sizes == [9, 9, 9, 9, 9, 9])
    #expect(trace.skipped == 1)
  }

  @Test("JSON numbers of 64 bits are keys of their own, and sizes")
  func largeNumbers() throws {
    let text = """
      {"key":18446744073709551614,"size":18446744073709551615}
      {"key":18446744073709551615,"size":9223372036854775808}
      """
    #expect(try names(text) == (["18446744073709551614", "18446744073709551615"], .json))
    #expect(try read(text).sizes == [.max, .max])
  }

  // MARK: - Public traces

  @Test("objects of which none has a key are JSON all the same, and told of")
  func objectsWithoutKey() {
    #expect(message { try read("{\"a\":1}\n{\"b\":2}\n") }.contains("line 1 has no key; name it key, url"))
  }

  @Test("columns are found by their names, as Meta and libCacheSim have them")
  func columns() throws {
    let kv2022 =
      "key,op,size,op_count,key_size\n1668757755,SET,82,1,40\n1668757755,GET,0,1,40\n1665497896,GET,169,3,78\n"
    #expect(try names(kv2022) == (["1668757755", "1665497896", "1665497896", "1665497896"], .csv))
    #expect(try read(kv2022).sizes == [0, 169, 169, 169])
    #expect(try read(kv2022).skipped == 1)
    let kv2024 = """
      op_time,key,key_size,op,op_count,size,cache_hits,ttl
      564726470,k7,7,GET_LEASE,2,50,1,
      564726471,k7,20,DELETE,1,0,0,3600
      """
    #expect(try names(kv2024) == (["k7", "k7"], .csv))
    let cdn = """
      timestamp,cacheKey,OpType,objectSize,responseSize,responseHeaderSize,rangeStart,rangeEnd,TTL,SamplingRate,cache_hit
      1678838400,58,1,3000,200,500,-,-,31536000,0.2,1
      """
    #expect(try names(cdn) == (["58"], .csv))
    #expect(try read(cdn).sizes == [3_000])
    let sim = "# time, object, size, next_access_vtime\n5633898, 42932745, 512, -1\n5633898,42932746,512,-1\n"
    #expect(try names(sim) == (["42932745", "42932746"], .csv))
    #expect(try read(sim).sizes == [512, 512])
  }

  @Test("columns without names are time, key and size, where the name or the caller says that they are columns")
  func unnamedColumns() throws {
    let text = "1,a,10,2\n2,b,20,-1\n"
    #expect(try names(text) == (["1,a,10,2", "2,b,20,-1"], .text))
    #expect(try names(text, "trace.csv") == (["a", "b"], .csv))
    #expect(try read(text, as: .csv).sizes == [10, 20])
    #expect(message { try read("a,b\n", as: .csv) }.contains("line 1 does not name the columns; begin with a line"))
  }

  @Test(
    "a row that is damaged is told with its number",
    arguments: [
      ("9,GET,1,1", "has 4 fields; write 5"), ("9", "has 1 field; write 5"), ("9,GET,x,1,1", "has “x” for a size"),
      ("9,GET,1,0,1", "stands for “0” requests"), ("9,GET,1,99999999999999999999,1", "write a number from 1 to 65536"),
      (",GET,1,1,1", "has no key"),
    ])
  func badRow(line: String, part: String) throws {
    let text = "key,op,size,op_count,key_size\n1,GET,82,1,40\n\(line)\n"
    let message = message { try read(text) }
    #expect(message.contains("line 3 "))
    #expect(message.contains(part))
  }

  @Test("Twitter's rows may have commas in the key, and only gets are reads")
  func twitter() throws {
    let text = """
      0,nz:u:eeW511W3dcH3de3d15ec,22,304,1,get,0
      0,a,b,3,0,4,gets,0
      1,nz:u:eeW511W3dcH3de3d15ec,22,310,1,set,3600
      2,a,b,3,9,4,get,0
      2,nz:u:eeW511W3dcH3de3d15ec,22,0,1,get,0
      """
    #expect(try names(text) == (["nz:u:eeW511W3dcH3de3d15ec", "a,b", "a,b", "nz:u:eeW511W3dcH3de3d15ec"], .twitter))
    let trace = try read(text)
    #expect(trace.sizes == [304, 9, 9, 304])
    #expect(trace.skipped == 1)
    #expect(message { try read(text + "\n3,k,1,1,1,fetch,0") }.contains("line 6 has “fetch” for an operation"))
    #expect(message { try read(text + "\n3,k,1,1") }.contains("line 6 is not of Twitter's format"))
  }

  @Test("ARC's lines are runs of blocks, and refused where a line asks for too much")
  func arc() throws {
    let text = "5 3 0 1\n6 1 0 2\n"
    #expect(try names(text) == (["5", "6", "7", "6"], .arc))
    #expect(try read(text).sizes == nil)
    #expect(message { try read(text + "1 65537 0 3") }.contains("line 3 stands for “65537” requests"))
    #expect(message { try read(text + "18446744073709551615 9 0 3") }.contains("line 3 has blocks beyond 64 bits"))
    #expect(message { try read(text + "1 2") }.contains("line 3 is not of ARC's format"))
    // Keys of four numbers, which nobody counted.
    #expect(try names("1 2 3 4\n1 2 3 4\n") == (["1 2 3 4", "1 2 3 4"], .text))
    #expect(try names("1 2 3 4\n", "a.lis") == (["1", "2"], .arc))
  }

  @Test("LIRS's marks are no requests")
  func lirs() throws {
    #expect(try names("12\n*\n7\n12\n") == (["12", "7", "12"], .lirs))
    #expect(try names("12\n7\n", "multi1.trc") == (["12", "7"], .lirs))
    #expect(try names("12\n7\n") == (["12", "7"], .text))
    #expect(try names("a\n*\n") == (["a", "*"], .text))
    #expect(message { try read("12\n*\n7\nx\n", as: .lirs) }.contains("line 4 is not of LIRS's format"))
  }

  private func record(_ time: UInt32, _ key: UInt64, _ size: UInt32, _ next: Int64) -> Data {
    func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
      (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return Data(bytes(time) + bytes(key) + bytes(size) + bytes(next))
  }

  @Test("oracleGeneral's records are recognized and read, however many")
  func oracleGeneral() throws {
    let few = record(1, .max, 512, 2) + record(1, 7, 100, -1) + record(3, .max, 600, -1)
    let trace = try RequestTrace(contentsOf: try file(few))
    #expect(trace.keys == [0, 1, 0])
    #expect(trace.sizes == [512, 100, 600])
    var many = Data()
    for index in 0..<9_000 { many += record(UInt32(index), UInt64(index % 77), 9, -1) }
    #expect(try RequestTrace(contentsOf: try file(many)).keys == (0..<9_000).map { UInt32($0 % 77) })
    let cut = try file(many.dropLast(5), "cut.oracleGeneral")
    #expect(message { try RequestTrace(contentsOf: cut) }.contains("ends in the middle of a record of 24 bytes"))
    let damaged = try file(few + record(4, 1, 1, -9), "bad.oracleGeneral.bin")
    #expect(message { try RequestTrace(contentsOf: damaged) }.contains("in record 4; it is damaged"))
    let text = try file(Data("one key\nand another\n\u{e4}nd a third\n".utf8), "text.oracleGeneral")
    #expect(message { try RequestTrace(contentsOf: text) }.contains("is text, and not records of 24 bytes"))
    #expect(try RequestTrace(contentsOf: text, format: .text).keys.count == 3)
  }

  // MARK: - Recognizing

  @Test("a log that begins with a damaged line is a log, and text that looks a little like another format is text")
  func ambiguous() throws {
    #expect(message { try read("GET /half\" 200 5\n" + Self.combined) }.contains("line 1 has no time in brackets"))
    #expect(try names("{not json\nuser:1\n") == (["{not json", "user:1"], .text))
    #expect(message { try read("key,size\nkey,value\n") }.contains("line 2 has “value” for a size"))
    #expect(try names("photos,2026\nphotos,2027\n").1 == .text)
    #expect(try names("[10/Oct/2000:13:55:36] \"x\"\na\nb\n").1 == .text)
    #expect(try names("\n\n# only comments\n") == ([], .text))
    #expect(try read(Self.combined, as: .text).keys.count == 7)
  }

  @Test("comments before the requests hide no format, however many they are")
  func preface() throws {
    let preface = (1...100).map { "# line \($0) of a licence\n" }.joined()
    #expect(try names(preface + Self.combined).1 == .log)
    #expect(try names(preface + "# time, object, size\n1, a, 10\n") == (["a"], .csv))
  }

  @Test("the mark that UTF-8 may begin with is part of no key and no name")
  func byteOrderMark() throws {
    #expect(try names("\u{FEFF}a\nb\na\n") == (["a", "b", "a"], .text))
    #expect(try names("\u{FEFF}key,size\r\na,10\r\n") == (["a"], .csv))
    #expect(try names("\u{FEFF}{\"key\":\"a\"}\n{\"key\":\"b\"}\n") == (["a", "b"], .json))
  }

  // MARK: - Packed files

  private func packed(_ data: Data, with program: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/\(program)")
    process.arguments = ["-qc", try file(data, "plain")]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return bytes
  }

  private static let long = (0..<40_000).map {
    "10.0.0.1 - - [22/Nov/2026:20:58:29 +0000] \"GET /\($0 * 7 % 9_001) HTTP/1.1\" 200 \($0 % 5_000)\n"
  }.joined()

  @Test("a log that is packed with gzip is recognized too")
  func gzip() async throws {
    let bytes = try await CompressionTransformer(.gzip).inverseTransform(Data(Self.long.utf8))
    let trace = try RequestTrace(contentsOf: try file(bytes, "access.log.1.gz"))
    #expect(trace.keys == RequestTrace((0..<40_000).map { $0 * 7 % 9_001 }).keys)
  }

  @Test("zstd and xz unpack through their programs, whatever the file is called", arguments: ["zstd", "xz"])
  func unpacked(program: String) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)") else { return }
    let whole = try packed(Data(Self.long.utf8), with: program)
    let trace = try RequestTrace(contentsOf: try file(whole, "-dash $(x) access"))
    #expect(trace.keys == RequestTrace((0..<40_000).map { $0 * 7 % 9_001 }).keys)
    let torn = try file(whole.prefix(whole.count / 2))
    #expect(message { try RequestTrace(contentsOf: torn) }.contains("check it with \(program) -t"))
    // What comes through a pipe cannot be looked at before it is read.
    var piped = try TraceLines(path: try file(whole, "piped"), packings: [])
    let problem = #expect(throws: TraceProblem.self) { _ = try piped.next() }
    #expect(problem?.remedy == "give the file, or unpack it first with \(program) -dc")
    // Left in the middle, it is ended.
    var lines = try TraceLines(path: try file(whole, "left"))
    #expect(try lines.next()?.key == "/0")
  }

  @Test("numbers that come packed through a pipe are refused, and not taken for keys", arguments: TracePacking.all)
  func packedNumbers(packing: TracePacking) throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(packing.magic + [0, 0]))
    try pipe.fileHandleForWriting.close()
    withExtendedLifetime(pipe) {
      let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
      let message = message { try RequestTrace(contentsOf: path, format: .u32) }
      #expect(message.contains("is packed with \(packing.program), which only a file may be"))
    }
  }

  @Test("who is cancelled waits no longer for what others have yet to write", .timeLimit(.minutes(1)))
  func cancelled() async throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("a\n".utf8))
    let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    let reading = Task { try RequestTrace(contentsOf: path) }
    reading.cancel()
    await #expect(throws: CacheError.self) { try await reading.value }
    try pipe.fileHandleForWriting.close()
  }

  @Test("a program that is missing is named with its package", arguments: TracePacking.all)
  func missing(packing: TracePacking) throws {
    var packing = packing
    packing.program = "no-such-unpacker"
    let path = try file(Data(packing.magic + [0, 0, 0]))
    let problem = #expect(throws: TraceProblem.self) { _ = try TraceLines(path: path, packings: [packing]) }
    #expect(
      problem?.message.contains("packed with no-such-unpacker, which cannot be started (spawn: No such file") == true)
    #expect(problem?.remedy == "install \(packing.package), or unpack the file first")
  }
}
