#ifndef CFLOOR_H
#define CFLOOR_H

#include <stddef.h>
#include <stdint.h>

/// A cache in C with the CLOCK policy, behind one mutex: what the machine permits.
///
/// Keys are bytes that their owner keeps alive; they are hashed by every call, as a Swift key is.
typedef struct cfloor_clock cfloor_clock;

cfloor_clock *cfloor_clock_create(uint32_t capacity);
void cfloor_clock_destroy(cfloor_clock *cache);
/// The value for a key, or -1.
int64_t cfloor_clock_get(cfloor_clock *cache, const void *key, uint32_t length);
void cfloor_clock_set(cfloor_clock *cache, const void *key, uint32_t length, int64_t value);

/// How many blocks this process has asked the allocator for; counted only while `cfloor_count_allocations(1)` holds.
uint64_t cfloor_allocations(void);
void cfloor_count_allocations(int on);
/// The bytes that are allocated now.
uint64_t cfloor_allocated_bytes(void);

/// Connects to a Unix socket; -1 on failure.
int cfloor_connect(const char *path);
/// Writes a request and reads an answer of so many bytes, one after the other and so many times: what a client in C that blocks
/// needs at least. Nanoseconds for each; -1 on failure.
double cfloor_round_trip(int connection, const void *request, size_t length, size_t answer, int count);

/// Writes standard output line by line, into a file as well.
void cfloor_write_lines(void);

#endif
