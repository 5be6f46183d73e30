#define _GNU_SOURCE
#include "CTerminalGuard.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// Code that nobody has changed stays in the system's cache of files, from where it comes back when it runs.
static int release_code(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || (part->p_flags & (PF_X | PF_W)) != PF_X) continue;
    uintptr_t start = (uintptr_t)(object->dlpi_addr + part->p_vaddr);
    uintptr_t end = (start + part->p_memsz + page - 1) & ~(page - 1);
    start &= ~(page - 1);
    madvise((void *)start, end - start, MADV_DONTNEED);
  }
  // The first object is the program.
  return 1;
}
#endif

void ctg_keep_few_heaps(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

void ctg_give_memory_back(void) {
#ifdef __GLIBC__
  // The defaults, which glibc raises by itself for as long as nobody sets them.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  malloc_trim(0);
#endif
#ifdef __linux__
  dl_iterate_phdr(release_code, NULL);
#endif
}
