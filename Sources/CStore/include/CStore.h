// The little that the library needs from C: a checksum at memory speed and the read that answers from the page cache or
// not at all, for the disk store; and a number for each thread, for the memory level.
#ifndef CACHEENGINE_CSTORE_H
#define CACHEENGINE_CSTORE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// XXH3 (64 bit) over `length` bytes, continued from `seed`.
uint64_t cstore_xxh3(const void *bytes, size_t length, uint64_t seed);

/// Like `pread`, but fails with `EAGAIN` instead of waiting for the disk. Where the system has no such call it
/// fails with `EOPNOTSUPP`.
ssize_t cstore_pread_nowait(int descriptor, void *buffer, size_t length, off_t offset);

/// A number that this thread has and few others have.
uint32_t cstore_thread_number(void);

/// Gives this thread another number, after it met a thread that may have the same.
void cstore_change_thread_number(void);

#endif
