#if Combine || canImport(Combine)
extension PlainModel {
  /// The plain form of a stack, and all of its levels from the leaves up.
  static func make(_ shape: Shape, in world: World, levels: inout [PlainModel]) -> PlainModel {
    let model: PlainModel
    switch shape {
    case .memory(let lifetime): model = PlainMemory(world, lifetime: lifetime)
    case .flaky(let number): model = PlainMemory(world, flaky: number)
    case .source(let number): model = PlainSource(world, number)
    case .disk: model = PlainMemory(world, kind: .disk)
    case .directory(let isApart):
      model = shared(isApart ? "apart" : "directory", in: world) { PlainMemory(world, kind: .disk) }
    case .common: model = shared("common", in: world) { PlainMemory(world, kind: .common) }
    case .cashier: model = shared("cashier", in: world) { PlainCashier(world) }
    case .packed: model = PlainMemory(world, kind: .packed)
    case .empty: model = PlainSource(world, nil)
    case .compose(let upper, let lower):
      let upper = make(upper, in: world, levels: &levels)
      model = PlainComposition(upper, make(lower, in: world, levels: &levels))
    case .revalidated(let upper, let lower, let policy):
      let upper = make(upper, in: world, levels: &levels)
      model = PlainComposition(upper, make(lower, in: world, levels: &levels), policy: policy)
    case .lanes(let first, let second):
      let first = make(first, in: world, levels: &levels)
      model = PlainLanes(first, make(second, in: world, levels: &levels))
    case .one(let kind, let inner): model = wrap(make(inner, in: world, levels: &levels), kind)
    }
    levels.append(model)
    return model
  }

  private static func shared(_ name: String, in world: World, _ make: () -> PlainModel) -> PlainModel {
    if let model = world.shared[name] { return model }
    let model = make()
    world.shared[name] = model
    return model
  }

  private static func wrap(_ inner: PlainModel, _ kind: Shape.Unary) -> PlainModel {
    switch kind {
    case .observed, .silentlyObserved, .traced, .capped, .timeout: PlainWrapper(inner)
    case .normalized: PlainStranger(inner)
    case .pooled: PlainPool(inner)
    case .retry: PlainRetry(inner)
    case .breaker: PlainBreaker(inner)
    case .fallbackForErrors: PlainFallback(inner, isForErrors: true)
    case .fallbackForMisses: PlainFallback(inner, isForErrors: false)
    case .negative: PlainNegative(inner, remembersErrors: false)
    case .negativeForErrors: PlainNegative(inner, remembersErrors: true)
    case .expiring: PlainLifetime(inner)
    case .maximumAge: PlainAge(inner)
    case .conditioned: PlainCondition(inner)
    case .transformValues: PlainTransform(inner, reading: 1_000, writing: -1_000)
    case .conditionedTransform: PlainTransform(inner, reading: 3_000, writing: -3_000)
    case .transformKeys: PlainTransform(inner, exchanges: true)
    case .postProcess: PlainTransform(inner, reading: 100_000)
    case .batch: PlainBatch(inner)
    case .optional: PlainOptional(inner)
    case .counted: PlainCounted(inner)
    }
  }
}
#endif
