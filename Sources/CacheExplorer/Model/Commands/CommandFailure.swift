/// A command that cannot be carried out, said for a person.
struct CommandFailure: Error, CustomStringConvertible {
  let message: String
  var description: String { message }
}
