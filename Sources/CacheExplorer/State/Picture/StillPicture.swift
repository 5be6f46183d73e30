/// A picture that stands still.
///
/// Whoever keeps it shares it: a model keeps several, and a copy of the model would copy every part of each.
package final class StillPicture: Sendable {
  package let picture: Picture

  package init(_ picture: Picture) { self.picture = picture }
}
