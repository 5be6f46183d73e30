// XXH3 once more, for processors with AVX2: the same checksum, a third quicker over long values.
#ifdef __x86_64__

#include <immintrin.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)

#define XXH_VECTOR 2  // XXH_AVX2
#define XXH_INLINE_ALL
#include "xxhash.h"

uint64_t cstore_xxh3_avx2(const void *bytes, size_t length, uint64_t seed);

uint64_t cstore_xxh3_avx2(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

#pragma clang attribute pop

#else
typedef int cstore_no_avx2;  // a file must not be empty
#endif
