#define _GNU_SOURCE
#include "CStore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <linux/openat2.h>
#include <sys/mman.h>
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

int cstore_rename_new(int directory, const char *name, const char *other) {
#if defined(__linux__) && defined(SYS_renameat2)
  const unsigned no_replace = 1;
  return (int)syscall(SYS_renameat2, directory, name, directory, other, no_replace);
#elif defined(__APPLE__)
  return renameatx_np(directory, name, directory, other, RENAME_EXCL);
#else
  (void)directory, (void)name, (void)other;
  errno = ENOSYS;
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
_Thread_local uint32_t cstore_known_thread_number;

uint32_t cstore_new_thread_number(void) { return cstore_known_thread_number = ++thread_count; }

void cstore_change_thread_number(void) { cstore_known_thread_number += 1; }

#ifdef __linux__
static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// A coarse clock changes at each tick, every 1 to 10 ms, and is read in a fifth of the time. As long as it says the same, less than
// a second has gone by since this thread read the exact one. It is the wall clock, which jumps when the machine wakes up.
bool cstore_is_ahead(int64_t moment) {
  static _Thread_local int64_t tick, now;
  int64_t current = nanoseconds(CLOCK_REALTIME_COARSE);
  if (current == tick && moment > now + 1000000000) return true;
  now = nanoseconds(CLOCK_BOOTTIME);
  tick = current;
  return moment > now;
}
#endif

// What compiled Swift asks. `withUnsafeCurrentTask`, which is generic and not specialised, takes 900 instructions for the same.
extern void *swift_task_getCurrent(void) __attribute__((swiftcall));

uintptr_t cstore_this_task(void) { return (uintptr_t)swift_task_getCurrent(); }

extern size_t swift_task_currentPriority(void *task) __attribute__((swiftcall));

uint8_t cstore_this_task_priority(void) {
  void *task = swift_task_getCurrent();
  return task == NULL ? 0 : (uint8_t)swift_task_currentPriority(task);
}

extern bool swift_task_isCancelled(void *task) __attribute__((swiftcall));

bool cstore_this_task_is_cancelled(void) {
  void *task = swift_task_getCurrent();
  return task != NULL && swift_task_isCancelled(task);
}

// What `TaskLocal` asks. Its own methods copy the value by what they look up of its type, and wait in functions of their own.
extern void *swift_task_localValueGet(const void *key) __attribute__((swiftcall));
extern void swift_task_localValuePush(const void *key, void *value, const void *type) __attribute__((swiftcall));
extern void swift_task_localValuePop(void) __attribute__((swiftcall));

const void *cstore_task_local(const void *key) { return swift_task_localValueGet(key); }

void cstore_bind_task_local(const void *key, void *value, const void *type) { swift_task_localValuePush(key, value, type); }

void cstore_unbind_task_local(void) { swift_task_localValuePop(); }

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

// Sockets.

static int keep(int descriptor) {
  if (descriptor < 0) return -1;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
  setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  return descriptor;
}

static int fail(int descriptor) {
  int number = errno;
  close(descriptor);
  errno = number;
  return -1;
}

static int make_socket(void) {
#ifdef SOCK_CLOEXEC
  return keep(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
#else
  return keep(socket(AF_UNIX, SOCK_STREAM, 0));
#endif
}

size_t cstore_longest_socket_path(void) { return sizeof(((struct sockaddr_un *)0)->sun_path) - 1; }

static bool address(const char *path, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (strlen(path) > cstore_longest_socket_path()) {
    errno = ENAMETOOLONG;
    return false;
  }
  strcpy(address->sun_path, path);
  return true;
}

int cstore_listen(const char *path) {
  struct sockaddr_un place;
  if (!address(path, &place)) return -1;
  int made = make_socket();
  if (made < 0) return -1;
  // Nobody gets in before the last of these calls, so nobody has the wider permissions.
  if (bind(made, (struct sockaddr *)&place, sizeof place) != 0 || chmod(path, 0600) != 0 || listen(made, 128) != 0)
    return fail(made);
  return made;
}

int cstore_connect(const char *path) {
  struct sockaddr_un place;
  if (!address(path, &place)) return -1;
  int made = make_socket();
  if (made < 0) return -1;
  if (connect(made, (struct sockaddr *)&place, sizeof place) != 0) return fail(made);
  return made;
}

int cstore_accept(int listener) {
#if defined(__linux__)
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
  return keep(accept(listener, NULL, NULL));
#endif
}

bool cstore_peer(int descriptor, uint32_t *user, int32_t *process) {
#ifdef __APPLE__
  uid_t found;
  gid_t group;
  pid_t number = 0;
  socklen_t size = sizeof number;
  if (getpeereid(descriptor, &found, &group) != 0) return false;
  *user = found;
  *process = getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &number, &size) == 0 ? number : 0;
  return true;
#else
  struct ucred found;
  socklen_t size = sizeof found;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return false;
  *user = found.uid;
  *process = found.pid;
  return true;
#endif
}

int cstore_pipe(int *ends) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC);
#else
  if (pipe(ends) != 0) return -1;
  for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  return 0;
#endif
}

int cstore_pair(int *pair) {
#ifdef SOCK_CLOEXEC
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
#else
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
#endif
  keep(pair[0]);
  keep(pair[1]);
  return 0;
}

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif

// Room for one descriptor more than may come, so that a second one is seen.
union passed {
  struct cmsghdr head;
  char bytes[CMSG_SPACE(2 * sizeof(int))];
};

ssize_t cstore_send(int descriptor, const void *bytes, size_t length, int given) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  union passed passed;
  if (given >= 0) {
    memset(&passed, 0, sizeof passed);
    message.msg_control = passed.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof given);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof given);
    memcpy(CMSG_DATA(head), &given, sizeof given);
  }
  ssize_t sent;
  do sent = sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t cstore_receive(int descriptor, void *bytes, size_t length, int *given) {
  struct iovec part = {.iov_base = bytes, .iov_len = length};
  union passed passed;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = passed.bytes, .msg_controllen = sizeof passed.bytes};
  *given = -1;
  ssize_t got;
  do got = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return -1;
  int count = 0;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head != NULL; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t room = head->cmsg_len - CMSG_LEN(0);
    for (size_t place = 0; place + sizeof(int) <= room; place += sizeof(int)) {
      int found;
      memcpy(&found, CMSG_DATA(head) + place, sizeof found);
      count += 1;
      if (count == 1) {
        fcntl(found, F_SETFD, FD_CLOEXEC);
        *given = found;
      } else {
        close(found);
      }
    }
  }
  if (count == 0 && (message.msg_flags & MSG_CTRUNC) != 0) {
    *given = -2;
  } else if (count > 1 || (message.msg_flags & MSG_CTRUNC) != 0) {
    if (*given >= 0) close(*given);
    *given = -1;
    errno = EPROTO;
    return -1;
  }
  return got;
}

int cstore_nameless_file(void) {
#if defined(__linux__) && defined(MFD_CLOEXEC)
  return memfd_create("cache-value", MFD_CLOEXEC);
#else
  char path[32];
  if (cstore_private_folder(path) != 0) return -1;
  char file[40];
  strcpy(file, path);
  strcat(file, "/v");
  int made = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) unlink(file);
  rmdir(path);
  return made;
#endif
}

int cstore_descriptor_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
}

int cstore_private_folder(char path[32]) {
  strcpy(path, "/tmp/cache.XXXXXX");
  return mkdtemp(path) == NULL ? -1 : 0;
}
