#define _GNU_SOURCE
#include "CTerminalGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { reset_capacity = 1024, path_capacity = 4096, alternate_size = 64 * 1024, max_watched = 16 };

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
enum { crash_count = sizeof crashes / sizeof crashes[0] };

// What ends a process that does not expect it, and is no crash.
static const int endings[] = {SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGSYS};
enum { ending_count = sizeof endings / sizeof endings[0] };

static atomic_bool armed;
static bool exit_hooked;
static int guarded_fd = -1;
static pid_t guarded_pid;
static struct termios guarded_modes;
static char reset_bytes[reset_capacity];
static size_t reset_length;
static struct sigaction crash_before[crash_count];
static bool ending_taken[ending_count];
static char alternate_stack[alternate_size];
static char report_path[path_capacity];
static char crash_note[path_capacity + 128];
static size_t note_length;
static int report_file = -1;

// Writes the reset string and restores the modes, once per arming.
static void restore(void) {
  if (getpid() != guarded_pid || !atomic_exchange(&armed, false)) return;
  size_t done = 0;
  while (done < reset_length) {
    ssize_t n = write(guarded_fd, reset_bytes + done, reset_length - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      struct pollfd room = {.fd = guarded_fd, .events = POLLOUT};
      if (poll(&room, 1, 100) <= 0) break;
    } else {
      break;
    }
  }
  // Without this a process in the background would be stopped here instead of restoring.
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  tcsetattr(guarded_fd, TCSANOW, &guarded_modes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Whoever writes a report now writes it into the file, and finds nobody to ask. Whether there is a file.
static bool begin_report(void) {
  if (report_path[0] == 0 || getpid() != guarded_pid) return false;
  int file = open(report_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  int nobody = open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)!write(STDERR_FILENO, crash_note, note_length);
  if (nobody >= 0) dup2(nobody, STDIN_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  report_file = file;
  return true;
}

// Takes the colours out of the report, and the question at its end.
static void end_report(void) {
  static char bytes[16 * 1024];
  off_t from = 0, to = 0;
  bool escaped = false;
  ssize_t count;
  while ((count = pread(report_file, bytes, sizeof bytes, from)) > 0) {
    size_t kept = 0;
    for (ssize_t i = 0; i < count; i++) {
      char byte = bytes[i];
      if (byte == '\x1b') escaped = true;
      if (!escaped && byte != '\r') bytes[kept++] = byte;
      if (escaped && byte >= '@' && byte <= '~' && byte != '[') escaped = false;
    }
    if (pwrite(report_file, bytes, kept, to) != (ssize_t)kept) return;
    from += count;
    to += (off_t)kept;
  }
  char end[256];
  off_t tail = to > (off_t)sizeof end ? to - (off_t)sizeof end : 0;
  const char *question = "\nPress space to interact";
  count = pread(report_file, end, sizeof end, tail);
  for (ssize_t i = 0; i + (ssize_t)strlen(question) <= count; i++)
    if (memcmp(end + i, question, strlen(question)) == 0) to = tail + i;
  (void)!ftruncate(report_file, to);
}

static void on_crash(int number, siginfo_t *info, void *context) {
  int saved = errno;
  restore();
  struct sigaction before = {.sa_handler = SIG_DFL};
  for (int i = 0; i < crash_count; i++)
    if (crashes[i] == number) before = crash_before[i];
  if ((before.sa_flags & SA_SIGINFO) && begin_report()) {
    // Swift's handler writes its report and returns.
    before.sa_sigaction(number, info, context);
    end_report();
    signal(number, SIG_DFL);
  } else {
    sigaction(number, &before, NULL);
  }
  errno = saved;
  // A fault happens again on return. What was sent does not, nor does a breakpoint that the processor stepped over.
  if (info == NULL || info->si_code <= 0 || number == SIGTRAP) raise(number);
}

static void on_ending(int number) {
  restore();
  // It takes effect on return.
  signal(number, SIG_DFL);
  raise(number);
}

// A signal that was ignored, or that somebody else waits for, stays theirs.
static void take_endings(void) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_ending;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < ending_count; i++) {
    if (sigaction(endings[i], NULL, &before) != 0) continue;
    if ((before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL) continue;
    ending_taken[i] = sigaction(endings[i], &action, NULL) == 0;
  }
}

static void give_back_endings(void) {
  for (int i = 0; i < ending_count; i++) {
    if (ending_taken[i]) signal(endings[i], SIG_DFL);
    ending_taken[i] = false;
  }
}

bool ctg_report_crashes(const char *path) {
  const char *words = "cache-explorer crashed; please send in the report: ";
  if (strlen(path) >= path_capacity) return false;
  strcpy(report_path, path);
  note_length = (size_t)snprintf(crash_note, sizeof crash_note, "%s%s\n", words, path);
  return true;
}

bool ctg_arm(int fd, const void *reset, size_t length) {
  if (length > reset_capacity || atomic_load(&armed)) return false;
  if (tcgetattr(fd, &guarded_modes) != 0) return false;
  guarded_fd = fd;
  guarded_pid = getpid();
  memcpy(reset_bytes, reset, length);
  reset_length = length;
  if (!exit_hooked) exit_hooked = atexit(restore) == 0;

  stack_t current;
  if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
    stack_t ours = {.ss_sp = alternate_stack, .ss_size = alternate_size};
    sigaltstack(&ours, NULL);
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  atomic_store(&armed, true);
  for (int i = 0; i < crash_count; i++) sigaction(crashes[i], &action, &crash_before[i]);
  take_endings();
  return true;
}

void ctg_disarm(void) {
  if (!atomic_exchange(&armed, false)) return;
  for (int i = 0; i < crash_count; i++) sigaction(crashes[i], &crash_before[i], NULL);
  give_back_endings();
}

// Signals as bytes in a pipe.

static int watch_pipe[2] = {-1, -1};
static struct {
  int number;
  struct sigaction before;
} watched[max_watched];
static size_t watched_count;

// When the first signal came that is to end the program, in milliseconds; 0 before.
static atomic_llong end_asked;

// Ends the program where it stands if whoever should act on the first signal has been busy for a second, maybe for ever. Many
// a program sends two in a row.
static void end_if_asked_before(int number) {
  if (number != SIGTERM && number != SIGINT && number != SIGHUP && number != SIGQUIT) return;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  long long now = (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000, first = 0;
  if (atomic_compare_exchange_strong(&end_asked, &first, now) || now - first < 1000) return;
  restore();
  _exit(128 + number);
}

static void on_watched(int number) {
  int saved = errno;
  end_if_asked_before(number);
  unsigned char byte = (unsigned char)number;
  // A full pipe loses the byte; whoever reads has thousands of them to act on already.
  (void)!write(watch_pipe[1], &byte, 1);
  errno = saved;
}

static int open_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
  }
  return 0;
}

int ctg_watch(const int *signals, size_t count) {
  if (watch_pipe[0] >= 0 || count > max_watched) {
    errno = EBUSY;
    return -1;
  }
  if (open_pipe(watch_pipe) != 0) return -1;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_watched;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  watched_count = 0;
  atomic_store(&end_asked, 0);
  for (size_t i = 0; i < count; i++) {
    struct sigaction before;
    if (sigaction(signals[i], NULL, &before) != 0) continue;
    if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN) continue;
    if (sigaction(signals[i], &action, NULL) != 0) continue;
    watched[watched_count].number = signals[i];
    watched[watched_count].before = before;
    watched_count++;
  }
  return watch_pipe[0];
}

void ctg_unwatch(void) {
  if (watch_pipe[0] < 0) return;
  for (size_t i = 0; i < watched_count; i++) sigaction(watched[i].number, &watched[i].before, NULL);
  watched_count = 0;
  int write_end = watch_pipe[1];
  watch_pipe[0] = watch_pipe[1] = -1;
  close(write_end);
}

static sigset_t unblock_stops(void) {
  sigset_t stops, before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTSTP);
  sigaddset(&stops, SIGTTIN);
  sigaddset(&stops, SIGTTOU);
  pthread_sigmask(SIG_UNBLOCK, &stops, &before);
  return before;
}

int ctg_set_modes(int fd, const struct termios *modes) {
  sigset_t before = unblock_stops();
  int result = tcsetattr(fd, TCSANOW, modes);
  int saved = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = saved;
  return result;
}

ssize_t ctg_read(int fd, void *bytes, size_t count) {
  sigset_t before = unblock_stops();
  ssize_t result = read(fd, bytes, count);
  int saved = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = saved;
  return result;
}

bool ctg_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool ctg_in_foreground(int fd) {
  // A terminal that is not the process's own has no foreground for it: nobody else is in the way.
  pid_t group = tcgetpgrp(fd);
  return group < 0 || group == getpgrp();
}

void ctg_stop(void) {
  struct sigaction current, continued, plain;
  if (sigaction(SIGTSTP, NULL, &current) != 0) return;
  // Ignored from the start: the parent has no job control, so nobody would wake us.
  if (!(current.sa_flags & SA_SIGINFO) && current.sa_handler == SIG_IGN) return;
  memset(&plain, 0, sizeof plain);
  sigemptyset(&plain.sa_mask);
  // The whole group, as the terminal itself would: a script that started us must stop as well. We stop by a signal to
  // this very thread, which has taken effect when raise returns; one to the process might still be on its way when the
  // handler is back, and would be taken for another wish to stop.
  plain.sa_handler = SIG_IGN;
  sigaction(SIGTSTP, &plain, NULL);
  kill(0, SIGTSTP);
  plain.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &plain, NULL);
  // The caller sees for himself that he was continued.
  sigaction(SIGCONT, &plain, &continued);
  raise(SIGTSTP);
  // Where this thread blocks it, it takes effect here.
  sigset_t before = unblock_stops();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  sigaction(SIGCONT, &continued, NULL);
  sigaction(SIGTSTP, &current, NULL);
}

int ctg_memory_file(void) {
#ifdef __linux__
  int fd = memfd_create("frame", MFD_CLOEXEC);
  if (fd >= 0) return fd;
#endif
  FILE *file = tmpfile();
  if (file == NULL) return -1;
  int copy = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  int saved = errno;
  fclose(file);
  errno = saved;
  return copy;
}

// The main queue. These two are what run loops use on Linux; libdispatch exports them for that.

#ifdef __linux__
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

int ctg_main_queue(void) { return _dispatch_get_main_queue_handle_4CF(); }

void ctg_serve_main_queue(int queue, int64_t nanoseconds) {
  struct pollfd work = {.fd = queue, .events = POLLIN};
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  if (ppoll(&work, 1, nanoseconds < 0 ? NULL : &limit, NULL) > 0) {
    uint64_t count;
    // It does not block: somebody has written, and nobody else reads.
    (void)!read(queue, &count, sizeof count);
  }
  _dispatch_main_queue_callback_4CF(NULL);
}
#else
int ctg_main_queue(void) { return -1; }
void ctg_serve_main_queue(int queue, int64_t nanoseconds) { (void)queue, (void)nanoseconds; }
#endif

int ctg_allowed_processors(void) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return 0;
}
