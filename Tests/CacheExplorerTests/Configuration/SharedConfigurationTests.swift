#if Explorer
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// The level `redis` in configurations.
struct SharedConfigurationTests {
  private func problems(_ text: String) -> [String] {
    do throws(ConfigurationFailure) {
      _ = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
      return []
    } catch { return error.problems.map(\.description) }
  }

  @Test("What is wrong with a shared level is told with its place and a remedy", arguments: badSharedLevels)
  func bad(configuration: BadConfiguration) {
    #expect(problems(configuration.text) == configuration.problems.map { "c.yaml" + $0 })
  }

  @Test("Who is in the list of a shared level hears what others change, whatever is around the list or the level")
  func heard() {
    let list =
      "- memory\n- disk: { directory: d }\n- negative: { for: 5s, level: { redis: { url: \"redis://h\", namespace: a } } }"
    func indented(_ columns: Int) -> String {
      list.split(separator: "\n").map { String(repeating: " ", count: columns) + $0 + "\n" }.joined()
    }
    #expect(problems("levels:\n" + indented(2)) == [])
    #expect(problems("levels:\n  - transformKeys:\n      with: sha256\n      levels:\n" + indented(8)) == [])
    #expect(problems("levels:\n  - empty\n  - pooled:\n" + indented(6)) == [])
  }

  @Test("User and password of a shared level are in use, and shown nowhere")
  func secret() throws {
    let text = "levels:\n  - redis: { url: \"redis://ada:hidden@h:7000/3\", namespace: a }"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    guard case .redis(let redis)? = configuration.levels.first?.kind else { return #expect(Bool(false)) }
    #expect(redis.url.contains("hidden"))
    let shown = configuration.settings.map { "\($0.value)" }.joined(separator: "\n")
    #expect(shown.contains("redis://h:7000/3"))
    #expect(!shown.contains("hidden") && !shown.contains("ada"))
  }

  @Test(
    "User, password and the query of an address of the network are in use; of them, only names and keys are shown",
    arguments: [
      ("http://ada:hidden@h/{key}", "http://h/{key}"), ("http://h/a@b/{key}", "http://h/a@b/{key}"),
      ("http://h/{key}?token=hidden", "http://h/{key}?token=…"),
      ("http://h?a=hidden=&k={key}&{+key}&hidden&e=", "http://h?a=…&k={key}&{+key}&…&e="),
    ])
  func networkSecret(url: String, shown: String) throws {
    let text = "levels:\n  - network: { url: \"\(url)\" }"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    guard case .network(let network)? = configuration.levels.first?.kind else { return #expect(Bool(false)) }
    #expect(network.template == url)
    #expect(configuration.settings.first { $0.field == "url" }?.value == shown, "\(configuration.settings)")
  }

  @Test("The authorities of a server are a file beside the configuration, for TLS alone")
  func authorities() throws {
    let secret = "levels:\n  - redis: { url: \"rediss://h\", namespace: a, authorities: ca.pem }"
    #if RedisTLS
    let configuration = try ConfigurationReader.read(secret, file: "c.yaml", folder: "/etc")
    guard case .redis(let redis)? = configuration.levels.first?.kind else { return #expect(Bool(false)) }
    #expect(redis.authorities == "/etc/ca.pem" && redis.address == "rediss://h:6379")
    #else
    #expect(
      problems(secret) == [
        "c.yaml:2:19: error: “url” of redis: this program was built without TLS, which rediss:// needs; "
          + "build it with TLS: make run EXPLORER_TRAITS=Explorer,RedisTLS"
      ])
    #endif
    #expect(
      problems(secret.replacing("rediss:", with: "redis:")) == [
        "c.yaml:2:5: error: “authorities” of redis is for TLS; write url: \"rediss://localhost:6379\""
      ])
  }

  @Test("A proxy keeps its responses for itself")
  func served() throws {
    let text = "levels:\n  - memory\n  - redis: { url: \"redis://h\", namespace: a }"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    #expect(
      configuration.problemsOfServing(in: "c.yaml").map(\.description) == [
        "c.yaml:3:5: error: another process would lose what this one stores for the same address; leave redis out"
      ])
  }
}

private let badSharedLevels = [
  BadConfiguration(
    "levels: [redis]", ":1:10: error: redis needs “url”; write url: \"redis://localhost:6379\"",
    ":1:10: error: redis needs “namespace”; write namespace: photos, the same for all that share the entries"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"http://h\", namespace: a }",
    ":2:19: error: “url” of redis: the address of a Redis server does not begin with redis://, rediss:// or redis+unix://; "
      + "write redis://user:password@host:6379/0, or redis+unix:///path/to/socket"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"redis://u:secret@h:x\", namespace: a }",
    ":2:19: error: “url” of redis: the address of a Redis server has a port that is no number from 1 to 65535; "
      + "write redis://user:password@host:6379/0, or redis+unix:///path/to/socket"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"redis://h\", namespace: \"a\\u0007b\" }",
    ":2:43: error: “namespace” of redis: \"a\\u{07}b\" is no namespace; "
      + "give 1 to 128 letters, digits or signs of ASCII, and no space, colon or brace"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"redis://h\", namespace: a, coherence: maybe }",
    ":2:57: error: “coherence” of redis: “maybe” is neither yes nor no; write true or false"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"redis://h\", namespace: a, timeout: 0s }",
    ":2:55: error: “timeout” of redis: a time limit of nothing; give more than 0"),
  BadConfiguration(
    "levels:\n  - redis: { url: \"redis://h\", namespace: a }\n  - redis: { url: \"redis://u:p@h:6379/0\", namespace: a }",
    ":3:43: error: redis-2 has the place of redis: each would drop what the other keeps; "
      + "give every level a place of its own"),
  BadConfiguration(
    "levels:\n  - memory\n  - transformKeys: { with: sha256, level: { redis: { url: \"redis://h\", namespace: a } } }",
    ":3:45: error: redis has other keys than the levels above transformKeys, which cannot hear what others change; "
      + "hold copies right above redis only, or write coherence: false"),
  BadConfiguration(
    "levels:\n  - memory\n  - lanes:\n      when: { prefix: a }\n      then: { redis: { url: \"redis://h\", namespace: a } }\n"
      + "      else: { redis: { url: \"redis://h\", namespace: b } }",
    ":6:15: error: redis-2 and redis cannot both tell memory what others change; "
      + "hold copies right above redis-2 only, or write coherence: false"),
  BadConfiguration(
    "levels:\n  - memory\n  - pooled:\n      - memory\n      - redis: { url: \"redis://h\", namespace: a }",
    ":5:9: error: memory has copies and is not told what others change in redis, which tells only the list that it is in; "
      + "put memory into that list, or write coherence: false"),
  BadConfiguration(
    "levels:\n  - negative:\n      for: 5s\n      levels:\n        - memory\n"
      + "        - redis: { url: \"redis://h\", namespace: a }",
    ":6:11: error: negative remembers what is missing and is not told what others change in redis, which tells only "
      + "the list that it is in; put negative into that list, or write coherence: false"),
]
#endif
