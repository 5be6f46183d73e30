#define _GNU_SOURCE
#include "CPseudoTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#ifdef __APPLE__
#include <util.h>
#include <xlocale.h>
#else
#include <pty.h>
#endif

static void flag(int fd, bool no_wait) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (no_wait) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int cpt_open(struct cpt_terminal *terminal, int columns, int rows) {
  memset(terminal, 0, sizeof *terminal);
  terminal->statuses = -1;
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
#ifdef __linux__
  // Closed on exec from the start: another thread may be starting a process.
  char device[128];
  terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal->master < 0) return errno;
  terminal->device = -1;
  if (grantpt(terminal->master) == 0 && unlockpt(terminal->master) == 0 &&
      ptsname_r(terminal->master, device, sizeof device) == 0)
    terminal->device = open(device, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal->device < 0 || ioctl(terminal->master, TIOCSWINSZ, &size) != 0) {
    int failure = errno;
    close(terminal->master);
    if (terminal->device >= 0) close(terminal->device);
    return failure;
  }
#else
  if (openpty(&terminal->master, &terminal->device, NULL, NULL, &size) != 0) return errno;
#endif
  flag(terminal->master, true);
  flag(terminal->device, true);
  return 0;
}

// Only in the process that stands for the shell.
static int shell_terminal;
static pid_t shell_job;

static void foreground(int number) {
  (void)number;
  int saved = errno;
  tcsetpgrp(shell_terminal, shell_job);
  kill(-shell_job, SIGCONT);
  errno = saved;
}

// Runs after fork in a process that had threads: only async-signal-safe calls.
static void be_shell(const char *device, int report, const char *path, char *const arguments[],
                     char *const environment[]) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  // Copies of the masters of this and other terminals would keep them from ever being closed.
  for (int fd = 3; fd < 4096; fd++)
    if (fd != report) close(fd);
  // A description of its own: ours does not wait, the program's does.
  int terminal = open(device, O_RDWR);
  if (terminal < 0) _exit(127);
#ifdef TIOCSCTTY
  ioctl(terminal, TIOCSCTTY, 0);
#endif
  for (int fd = 0; fd < 3; fd++) dup2(terminal, fd);
  signal(SIGTTOU, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTSTP, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    tcsetpgrp(terminal, getpid());
    static const int ignored[] = {SIGTTOU, SIGHUP, SIGINT, SIGQUIT, SIGTSTP};
    for (int i = 0; i < 5; i++) signal(ignored[i], SIG_DFL);
    if (terminal > 2) close(terminal);
    execve(path, arguments, environment);
    _exit(127);
  }
  setpgid(child, child);
  shell_terminal = terminal;
  shell_job = child;
  signal(SIGUSR1, foreground);
  tcsetpgrp(terminal, child);
  int first = (int)child;
  (void)!write(report, &first, sizeof first);
  if (child < 0) _exit(127);
  for (;;) {
    int status = 0;
    pid_t seen = waitpid(child, &status, WUNTRACED | WCONTINUED);
    if (seen < 0 && errno == EINTR) continue;
    if (seen < 0) _exit(0);
    // As a shell does, so that the next job gets a usable terminal.
    if (WIFSTOPPED(status)) tcsetpgrp(terminal, getpid());
    if (write(report, &status, sizeof status) < 0) _exit(0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) _exit(0);
  }
}

int cpt_start(struct cpt_terminal *terminal, const char *path, char *const arguments[], char *const environment[]) {
  char device[128];
  if (ttyname_r(terminal->device, device, sizeof device) != 0) return errno;
  int report[2];
#ifdef __linux__
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
#else
  if (pipe(report) != 0) return errno;
#endif
  flag(report[0], false);
  flag(report[1], false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t shell = fork();
  if (shell == 0) be_shell(device, report[1], path, arguments, environment);
  int failure = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(report[1]);
  int program = -1;
  if (shell < 0 || read(report[0], &program, sizeof program) != sizeof program || program < 0) {
    close(report[0]);
    return shell < 0 ? failure : EAGAIN;
  }
  flag(report[0], true);
  terminal->shell = shell;
  terminal->program = program;
  terminal->statuses = report[0];
  return 0;
}

int cpt_resize(int master, int columns, int rows) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  return ioctl(master, TIOCSWINSZ, &size) == 0 ? 0 : errno;
}

void cpt_foreground(const struct cpt_terminal *terminal) { kill(terminal->shell, SIGUSR1); }

int cpt_width(unsigned scalar) {
  static locale_t unicode;
  if (unicode == NULL) {
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    if (unicode == NULL) unicode = newlocale(LC_CTYPE_MASK, "UTF-8", NULL);
  }
  if (scalar < 0x80) return scalar < 0x20 || scalar == 0x7f ? -1 : 1;
  if (unicode == NULL) return 1;
  locale_t before = uselocale(unicode);
  int width = wcwidth((wchar_t)scalar);
  uselocale(before);
  return width;
}
