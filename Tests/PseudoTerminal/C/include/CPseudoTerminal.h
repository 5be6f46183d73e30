// Starts a program on a terminal of its own, as a job of a shell, so that it can be stopped and continued.
#ifndef CPSEUDOTERMINAL_H
#define CPSEUDOTERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct cpt_terminal {
  /// The end to read and write as the person does. Does not wait.
  int master;
  /// The terminal itself, kept open to look at its modes. Does not wait.
  int device;
  /// The program.
  pid_t program;
  /// Stands for the shell; ends after the program.
  pid_t shell;
  /// Gives the program's wait statuses, one int each: stopped, continued, ended.
  int statuses;
};

/// Makes a terminal of a size without a program. Returns 0 or an errno.
int cpt_open(struct cpt_terminal *terminal, int columns, int rows);

/// Starts a program on it, in the foreground. Returns 0 or an errno.
///
/// Both lists end with NULL.
int cpt_start(struct cpt_terminal *terminal, const char *path, char *const arguments[], char *const environment[]);

/// Sets the size; the kernel sends SIGWINCH when it changed.
int cpt_resize(int master, int columns, int rows);

/// What `fg` does: gives the terminal to the program and continues it.
void cpt_foreground(const struct cpt_terminal *terminal);

/// Puts cells to a scalar, as the C library does in a UTF-8 locale.
int cpt_width(unsigned scalar);

#endif
