import CacheEngineNetwork

#if HTTP
import CacheEngine

/// What the engine's transports take; it has the name of the ecosystem's type, so it is told apart where only the one is in sight.
typealias PlainRequest = HTTPRequest
#endif
