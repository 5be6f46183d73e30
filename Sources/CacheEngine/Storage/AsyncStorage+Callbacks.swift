public import CacheCore
import Dispatch

extension AsyncStorage {
  /// Receives the answer to a request, or its error.
  public typealias Completion<Answer> = @Sendable (Result<Answer, any Error>) -> Void

  /// Asks for the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - completion: Given the value, or `nil` on a miss, or the error.
  public func object(forKey key: Key, completion: @escaping Completion<Value?>) {
    enqueue(completion) { try $0.object(forKey: key) }
  }

  /// Asks for the value of a key with its deadline and the tier that it comes from.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - completion: Given the entry, or `nil` on a miss, or the error.
  public func entry(forKey key: Key, completion: @escaping Completion<Entry<Value>?>) {
    enqueue(completion) { try $0.entry(forKey: key) }
  }

  /// Asks whether there is a value that has not expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - completion: Given whether there is one, or the error.
  public func objectExists(forKey key: Key, completion: @escaping Completion<Bool>) {
    enqueue(completion) { try $0.objectExists(forKey: key) }
  }

  /// Stores a value under a key, in every tier.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: The key.
  ///   - expiry: When it expires; `nil` for the default of each tier.
  ///   - completion: Called when it is stored, or with the error.
  public func setObject(
    _ object: Value, forKey key: Key, expiry: Expiry? = nil, completion: @escaping Completion<Void>
  ) {
    enqueue(completion) { try $0.setObject(object, forKey: key, expiry: expiry) }
  }

  /// Removes the value of a key from every tier.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - completion: Called when it is removed, or with the error.
  public func removeObject(forKey key: Key, completion: @escaping Completion<Void>) {
    enqueue(completion) { try $0.removeObject(forKey: key) }
  }

  /// Removes everything, including values that other views have stored.
  ///
  /// - Parameter completion: Called when it is removed, or with the error.
  public func removeAll(completion: @escaping Completion<Void>) { enqueue(completion) { try $0.removeAll() } }

  /// Removes what has expired, from both tiers.
  ///
  /// - Parameter completion: Called with the number of entries that were removed, or with the error.
  public func removeExpiredObjects(completion: @escaping Completion<Int>) {
    enqueue(completion) { try $0.removeExpiredObjects() }
  }

  /// Seals everything in the folder with the newest key of its cipher, so that older keys are no longer needed.
  ///
  /// - Parameter completion: Given how many entries were resealed, or the error.
  public func rotate(completion: @escaping Completion<Int>) { enqueue(completion) { try $0.rotate() } }

  /// Carries out a request in the blocking face, on the thread of this one, when it is its turn.
  private func enqueue<Answer>(
    _ completion: @escaping Completion<Answer>, _ request: @escaping @Sendable (Storage<Key, Value>) throws -> Answer
  ) {
    storage.core.callbacks.async { [weak core = storage.core, transformer = storage.transformer] in
      guard let core else {
        return completion(
          .failure(CacheError(.deallocated, "the storage was released before its turn; keep it until the completion")))
      }
      completion(Result { try request(Storage(core: core, transformer: transformer)) })
    }
  }
}
