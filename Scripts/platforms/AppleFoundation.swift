// What the sources use of Apple's Foundation and Linux's has not, or has elsewhere.
@_exported import AppleDispatch
@_exported import Foundation
@_exported import FoundationNetworking
