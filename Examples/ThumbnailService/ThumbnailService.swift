// A service that makes thumbnails of the pictures in a folder, and a program that uses it:
//
//     swift run ThumbnailService PICTURES THUMBNAILS NAME...
//
// Each line is a name and the size of its thumbnail; at the end comes the number that had to be made. A thumbnail is made once, however
// many callers ask for it at the same time, and is still there the next time the program runs. At most two are made at a time, and
// at most 64 MiB of them are kept. The exit status is 0 if all pictures were there, and 66 if one was not.

import CacheEngine
import CacheEngineImages
import Foundation

@main
struct ThumbnailProgram {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3 else { exit(64, "usage: ThumbnailService PICTURES THUMBNAILS NAME...") }
    do {
      let service = try ThumbnailService(pictures: arguments[0], keepingIn: arguments[1])
      let names = arguments.dropFirst(2)
      let answers = await withTaskGroup(of: (Int, Result<PixelBuffer, any Error>).self) { group in
        for (place, name) in names.enumerated() {
          group.addTask {
            do { return (place, .success(try await service.thumbnail(of: name))) } catch {
              return (place, .failure(error))
            }
          }
        }
        var answers: [Int: Result<PixelBuffer, any Error>] = [:]
        for await (place, answer) in group { answers[place] = answer }
        return answers
      }
      var status: Int32 = 0
      for (place, name) in names.enumerated() {
        switch answers[place] {
        case .success(let image):
          print("\(name) \(image.width)x\(image.height)")
        case .failure(let error):
          note("error: \(name): \(error)")
          status = 66
        case nil: break
        }
      }
      note("\(await service.made) made")
      try await service.close()
      Foundation.exit(status)
    } catch {
      exit(74, "error: \(error)")
    }
  }

  private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  private static func exit(_ status: Int32, _ message: String) -> Never {
    note(message)
    Foundation.exit(status)
  }
}

/// Makes thumbnails and keeps them.
actor ThumbnailService {
  /// How many thumbnails were made.
  private(set) var made = 0

  private let pictures: URL
  private let box = (width: 64, height: 64)
  private let disk: DiskCacheLevel<String, Data>
  private var thumbnails: (any CacheLevel<String, Data>)?

  init(pictures: String, keepingIn folder: String) throws {
    self.pictures = URL(filePath: pictures, directoryHint: .isDirectory)
    disk = try DiskCacheLevel(directory: folder, capacity: 64 << 20)
  }

  func thumbnail(of name: String) async throws -> PixelBuffer {
    guard let file = try await stack().get(name) else {
      throw CacheError(.valueNotInCache, "there is no such picture")
    }
    return try await ImageTransformer().transform(file)
  }

  func close() async throws { try await disk.close() }

  /// Memory over the disk over the pictures, of which two at a time are scaled; simultaneous callers share the work.
  private func stack() -> any CacheLevel<String, Data> {
    if let thumbnails { return thumbnails }
    let pictures = BasicFetcher<String, Data>(name: "pictures") { [weak self] name in try await self?.make(name) }
    let stack = MemoryCacheLevel<String, Data>(capacity: 8 << 20).compose(disk).compose(pictures.capRequests(2))
      .pooled()
    thumbnails = stack
    return stack
  }

  private func make(_ name: String) async throws -> Data? {
    // A name, not a path to another folder. By bytes: what combines with a slash makes another character of it.
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != "..", name != "." else {
      throw CacheError(.invalidAddress, "that is not the name of a picture")
    }
    let file = pictures.appending(path: name)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let image = try await ImageTransformer().transform(Data(contentsOf: file))
    let small = await ResizeTransformer(width: box.width, height: box.height).transform(image)
    made += 1
    return try await ImageTransformer(encoding: .png).inverseTransform(small)
  }
}
