// Gives the terminal back on every way out that Swift code cannot be on: crashes, signals that nobody expects, exit() from anywhere.
//
// One terminal at a time. Everything the signal handlers use is prepared beforehand; they call only
// async-signal-safe functions.
#ifndef CTERMINALGUARD_H
#define CTERMINALGUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/// Remembers the modes of the terminal and what to write to it when the process crashes or exits.
///
/// Returns false where fd is no terminal or the string is too long.
bool ctg_arm(int fd, const void *reset, size_t length);

/// Has the report of a crash, which somebody else's handler writes, go into a new file; stderr is told where.
///
/// False where the path is too long. While the process is armed only.
bool ctg_report_crashes(const char *path);

/// Puts the crash handlers back as they were; exit() writes nothing any more.
void ctg_disarm(void);

/// Catches the signals, and makes their numbers readable as bytes. Returns a descriptor, or -1 with errno.
///
/// A signal that was ignored stays ignored, as nohup and shells without job control want it. Only one watch at a time. One that
/// is to end the program and comes a second after the first gives the terminal back and ends it: nobody has acted on that.
int ctg_watch(const int *signals, size_t count);

/// Puts the signals back as they were. The descriptor stays open and is the caller's to close, when nothing watches it.
void ctg_unwatch(void);

/// Stops the process group as ^Z does. Returns once continued, or at once where nobody could continue it.
void ctg_stop(void);

// On Linux the main actor can run on worker threads that have all signals blocked. A process in the background that touches
// its terminal from there is not stopped, as it must be, but takes the terminal away from the shell, or is told EIO.

/// tcsetattr, which stops a process in the background until it is in the foreground.
int ctg_set_modes(int fd, const struct termios *modes);

/// read, likewise.
ssize_t ctg_read(int fd, void *bytes, size_t count);

/// Whether a signal is ignored, as nohup leaves SIGHUP to what it starts.
bool ctg_is_ignored(int number);

/// Whether the terminal is ours to use now.
bool ctg_in_foreground(int fd);

/// A descriptor that becomes readable when the main queue has work; -1 where there is none to be had.
///
/// Only for the thread that the process began with, which then has to serve the queue.
int ctg_main_queue(void);

/// Waits until the main queue has work, or for so many nanoseconds (negative: for as long as it takes), and does the work.
void ctg_serve_main_queue(int queue, int64_t nanoseconds);

/// An unnamed file in memory for what curses writes, or -1 with errno.
int ctg_memory_file(void);

/// Has the C library keep two heaps, and not eight for each core: each keeps room of its own. With glibc only.
///
/// For a program that shows and does not serve, before it has other threads.
void ctg_keep_few_heaps(void);

/// Gives back to the system what is free, and on Linux the code of the program, of which what runs on is read again.
///
/// With glibc, what becomes free is given back from here on: by itself it keeps what was free once, as each batch of events. Starting
/// runs through three times the code that is run afterwards.
/// Breakpoints that a debugger had set in that code are lost.
void ctg_give_memory_back(void);

/// How many processors this process may use, as taskset has it; 0 where the system does not say.
int ctg_allowed_processors(void);

#endif
