@_exported import Glibc
