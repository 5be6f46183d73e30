#include "cfloor.h"

#include <stdatomic.h>
#include <stdio.h>

static atomic_int counting;
static atomic_ullong count;

uint64_t cfloor_allocations(void) { return atomic_load(&count); }
void cfloor_count_allocations(int on) { atomic_store(&counting, on); }

void cfloor_write_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

#ifdef __GLIBC__
#include <errno.h>
#include <malloc.h>

// The program's own definitions go before the library's; these hand on to it.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static inline void note(void) {
  if (atomic_load_explicit(&counting, memory_order_relaxed)) atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  note();
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  note();
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

uint64_t cfloor_allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
#else
uint64_t cfloor_allocated_bytes(void) { return 0; }
#endif
