#define _GNU_SOURCE
#include "CStore.h"

#include <errno.h>
#include <sys/uio.h>

// xxHash 0.8.1, Yann Collet, BSD 2-clause, unchanged: https://github.com/Cyan4973/xxHash
#define XXH_INLINE_ALL
#include "xxhash.h"

uint64_t cstore_xxh3(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

ssize_t cstore_pread_nowait(int descriptor, void *buffer, size_t length, off_t offset) {
#ifdef RWF_NOWAIT
  struct iovec part = {.iov_base = buffer, .iov_len = length};
  return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
#else
  (void)descriptor, (void)buffer, (void)length, (void)offset;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

static _Atomic uint32_t thread_count;
static _Thread_local uint32_t thread_number;

uint32_t cstore_thread_number(void) {
  if (thread_number == 0) thread_number = ++thread_count;
  return thread_number;
}

void cstore_change_thread_number(void) { thread_number += 1; }
