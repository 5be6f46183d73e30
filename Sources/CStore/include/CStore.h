// The little that the library needs from C: a checksum at memory speed, and what answers from memory or not at all, for
// the disk store; and a number for each thread, for the memory level; threads of the library's own; and
// sockets that pass descriptors, for a directory that several processes use.
#ifndef CACHEENGINE_CSTORE_H
#define CACHEENGINE_CSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// XXH3 (64 bit) over `length` bytes, continued from `seed`.
uint64_t cstore_xxh3(const void *bytes, size_t length, uint64_t seed);

/// Reads two neighbouring stretches of a file into two places, but fails with `EAGAIN`, or reads less, instead of waiting
/// for the disk. Where the system has no such call it fails with `EOPNOTSUPP`.
ssize_t cstore_pread_nowait(
    int descriptor, void *head, size_t head_length, void *rest, size_t rest_length, off_t offset);

/// Opens a file below a directory, but fails with `EAGAIN` instead of asking the disk for a name. Where the system has no
/// such call it fails with another error.
int cstore_open_nowait(int directory, const char *name, int flags);

/// Renames a file below a directory, but fails with `EEXIST` if something has the new name. Where the system or the file system
/// has no such call it fails with another error.
int cstore_rename_new(int directory, const char *name, const char *other);

/// Tells the processor that this thread waits for another one, for some tens of nanoseconds.
void cstore_pause(void);

/// Lets some time go by for another thread that is nearly done: tens of nanoseconds in the first 128 rounds, then a turn of
/// other threads, and after 160 rounds 50 us of sleep.
void cstore_wait(uint32_t round);

/// Sleeps until another thread wakes it if four bytes have this value, or for no reason; on Linux. Elsewhere it lets others run.
void cstore_sleep_while(void *word, uint32_t value);

/// Wakes a thread that sleeps for these bytes.
void cstore_wake_one(void *word);

/// The number of this thread; 0 before it was asked for.
extern _Thread_local uint32_t cstore_known_thread_number;

uint32_t cstore_new_thread_number(void);

/// A number that this thread has and few others have. Linked into who asks, which every read in memory does.
static inline uint32_t cstore_thread_number(void) {
  uint32_t number = cstore_known_thread_number;
  return number != 0 ? number : cstore_new_thread_number();
}

/// Gives this thread another number, after it met a thread that may have the same.
void cstore_change_thread_number(void);

/// Whether a moment of the boot clock, in nanoseconds, is still to come; on Linux.
bool cstore_is_ahead(int64_t moment);

/// Makes this thread one of the library's own: no signal is delivered to it, and on Linux debuggers and top show its name, of at
/// most 15 bytes.
void cstore_begin_thread(const char *name);

/// Tells this thread from all others that there are; never 0.
static inline uintptr_t cstore_this_thread(void) { return (uintptr_t)&cstore_known_thread_number; }

/// Tells the Swift task that runs on this thread from all others that have not ended; 0 if none runs.
uintptr_t cstore_this_task(void);

/// The priority of the Swift task that runs on this thread; 0 if none runs.
uint8_t cstore_this_task_priority(void);

/// Whether the Swift task that runs on this thread is cancelled; false if none runs.
bool cstore_this_task_is_cancelled(void);

/// Where the value is that a task local, told by the address of its object, has here; NULL if none is bound.
const void *cstore_task_local(const void *key);

/// Binds a value to a task local until it is unbound, which what is bound last is first. The value, of a type told by its
/// metadata, is moved.
void cstore_bind_task_local(const void *key, void *value, const void *type);

/// Ends what was bound last.
void cstore_unbind_task_local(void);

/// Notes that this thread starts something within what it has started, unless it has done so as often already.
bool cstore_enter_start(uint32_t most);

/// Notes that what the thread started last has ended, or waits.
void cstore_leave_start(void);

/// Listens on a new socket at a path, which only this user may connect to; -1 on failure. It never blocks.
int cstore_listen(const char *path);

/// Connects to a socket at a path; -1 on failure. It never blocks.
int cstore_connect(const char *path);

/// Lets somebody in; -1 if nobody is there or there is no room.
int cstore_accept(int listener);

/// The user at the other end of a socket, and its process or 0; `false` if the system does not say.
bool cstore_peer(int socket, uint32_t *user, int32_t *process);

/// Makes a pipe that no process started meanwhile inherits, the end to read from first; -1 on failure.
int cstore_pipe(int *ends);

/// Makes two connected sockets, which never block; -1 on failure.
int cstore_pair(int *pair);

/// Sends what a socket takes without waiting, and a descriptor with the first byte, unless that is -1; no signal is raised.
ssize_t cstore_send(int socket, const void *bytes, size_t length, int descriptor);

/// Receives what is there without waiting, and at most one descriptor, -1 for none: more fail with `EPROTO`.
///
/// The descriptor is -2 where one was sent and this process may not have another.
ssize_t cstore_receive(int socket, void *bytes, size_t length, int *descriptor);

/// Makes a file without a name, in memory if the system can; -1 on failure.
int cstore_nameless_file(void);

/// How many descriptors this process may have.
int cstore_descriptor_limit(void);

/// How many bytes the path of a socket may have.
size_t cstore_longest_socket_path(void);

/// Makes a folder that is this user's alone and has a short path, which is written to `path`; -1 on failure.
int cstore_private_folder(char path[32]);

#endif
