import CacheEngine
import CacheEngineStorage
import Foundation
import TestSupport
import Testing

/// The code of the article about storages, compiled and run.
@Suite(.timeLimit(.minutes(10))) struct StorageArticleTests {
  private final class Screen: Sendable {
    let shown = Calls<String>()
    func show(_ text: String) { shown.append(text) }
  }

  @Test("the running example of the article does what the article says")
  func example() async throws {
    let (screen, folder) = (Screen(), DiskFolder())
    let directory = folder.path
    let (names, sender) = AsyncStream.makeStream(of: String.self)
    let show: @Sendable (String) -> Void = { sender.yield($0) }
    // Article
    struct User: Codable, Equatable {
      var name: String
      var age: Int
    }

    let users = try Storage(
      diskConfig: DiskConfig(name: "users", expiry: .seconds(86_400), maxSize: 64 << 20, directory: directory),
      memoryConfig: MemoryConfig(expiry: .seconds(600), countLimit: 500),
      transformer: TransformerFactory.forCodable(ofType: User.self))

    try users.setObject(User(name: "Ada", age: 36), forKey: "ada")
    try users.setObject(User(name: "Guest", age: 0), forKey: "guest", expiry: .seconds(60))
    let ada = try users.object(forKey: "ada")  // nil would be a miss
    // end
    #expect(ada == User(name: "Ada", age: 36))
    // Article
    let awaited = try await users.async.object(forKey: "ada")

    users.async.setObject(User(name: "Grace", age: 85), forKey: "grace") { _ in
      users.async.object(forKey: "grace") { result in
        show((try? result.get())??.name ?? "nobody")
      }
    }
    // end
    #expect(awaited == ada)
    var iterator = names.makeAsyncIterator()
    #expect(await iterator.next() == "Grace")
    // Article
    let counts = users.transform(to: Int.self)
    try counts.setObject(2, forKey: "number of users")

    struct Person: Codable, Equatable {
      var name: String
    }
    let person = try users.transform(to: Person.self).object(forKey: "ada")  // the fields fit
    let json = try users.transformData().object(forKey: "ada")  // bytes can be had of everything
    // end
    #expect(person == Person(name: "Ada"))
    #expect(json == Data(#"{"age":36,"name":"Ada"}"#.utf8))
    // Article
    struct Account: Codable, Equatable {
      var name: String
      var isAdult: Bool
    }
    let accounts = users.transform(
      by: TransformerFactory.forCodable(ofType: Account.self, as: "account.2")
        .migrating(from: TransformerFactory.forCodable(ofType: User.self)) { user in
          Account(name: user.name, isAdult: user.age >= 18)
        })
    let account = try accounts.object(forKey: "ada")  // read as a User, migrated
    // end
    #expect(account == Account(name: "Ada", isAdult: true))
    // Article
    users.addStorageObserver(screen) { screen, change in
      screen.show("\(change)")
    }
    let token = users.addObserver(screen, forKey: "ada") { screen, change in
      if case .edit(_, let after?) = change { screen.show("\(after.name) is \(after.age)") }
    }
    try users.setObject(User(name: "Ada", age: 37), forKey: "ada")
    token.cancel()
    // end
    #expect(screen.shown.take() == ["Ada is 37", "add(\"ada\")"])
    // Article
    let changes = users.changes(forKey: "ada", bufferingPolicy: .bufferingNewest(1))
    let follower = Task {
      for await change in changes { screen.show("\(change)") }
    }
    // end
    users.removeAllStorageObservers()
    try users.removeObject(forKey: "ada")
    users.removeObservers(forKey: "ada")
    await follower.value
    #expect(screen.shown.take() == ["remove(cause: CacheCore.RemovalCause.removed)"])
    try await users.async.close()
  }
}
