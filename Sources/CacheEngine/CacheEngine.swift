// What `import CacheEngine` gives: levels and how they are composed, in memory and on the disk. What stands on them is imported by its name.
@_exported public import CacheCore
@_exported public import CacheDisk
@_exported public import CacheMemory
