#define _GNU_SOURCE
#include "CStore.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// xxHash 0.8.1, Yann Collet, BSD 2-clause, unchanged: https://github.com/Cyan4973/xxHash
#define XXH_INLINE_ALL
#include "xxhash.h"

#ifdef __x86_64__
uint64_t cstore_xxh3_avx2(const void *bytes, size_t length, uint64_t seed);
#endif

uint64_t cstore_xxh3(const void *bytes, size_t length, uint64_t seed) {
#ifdef __x86_64__
  // Where little is to be done, what every processor has is as quick.
  if (length > 4096 && __builtin_cpu_supports("avx2")) return cstore_xxh3_avx2(bytes, length, seed);
#endif
  return XXH3_64bits_withSeed(bytes, length, seed);
}

ssize_t cstore_pread_nowait(
    int descriptor, void *head, size_t head_length, void *rest, size_t rest_length, off_t offset) {
#ifdef RWF_NOWAIT
  struct iovec parts[] = {{.iov_base = head, .iov_len = head_length}, {.iov_base = rest, .iov_len = rest_length}};
  return preadv2(descriptor, parts, 2, offset, RWF_NOWAIT);
#else
  (void)descriptor, (void)head, (void)head_length, (void)rest, (void)rest_length, (void)offset;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

int cstore_open_nowait(int directory, const char *name, int flags) {
#if defined(__linux__) && defined(RESOLVE_CACHED) && defined(SYS_openat2)
  struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_CACHED};
  return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
#else
  (void)directory, (void)name, (void)flags;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

void cstore_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

void cstore_wait(uint32_t round) {
  if (round < 128) return cstore_pause();
  if (round < 160) {
    sched_yield();
    return;
  }
  nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

void cstore_sleep_while(void *word, uint32_t value) {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
#else
  (void)word, (void)value;
  sched_yield();
#endif
}

void cstore_wake_one(void *word) {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
  (void)word;
#endif
}

static _Atomic uint32_t thread_count;
static _Thread_local uint32_t thread_number;

uint32_t cstore_thread_number(void) {
  if (thread_number == 0) thread_number = ++thread_count;
  return thread_number;
}

void cstore_change_thread_number(void) { thread_number += 1; }

uintptr_t cstore_this_thread(void) { return (uintptr_t)&thread_number; }

static _Thread_local uint32_t starts;

bool cstore_enter_start(uint32_t most) {
  if (starts >= most) return false;
  starts += 1;
  return true;
}

void cstore_leave_start(void) { starts -= 1; }

void cstore_begin_thread(const char *name) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
#ifdef __linux__
  prctl(PR_SET_NAME, name, 0, 0, 0);
#else
  (void)name;
#endif
}
