#include "cfloor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const void *key;
  int64_t value;
  uint64_t hash;
  uint32_t length;
  uint32_t used;
} entry;

struct cfloor_clock {
  pthread_mutex_t lock;
  entry *entries;
  uint64_t *index;  // 0 for an empty place, else 32 bits of the hash, then the entry's number plus one
  uint64_t mask;
  uint32_t capacity, count, hand;
};

// Eight bytes at a time and a finaliser: as quick as a decent hash of short keys can be.
static uint64_t hash_of(const void *key, uint32_t length) {
  const unsigned char *bytes = key;
  uint64_t hash = length * 0x9e3779b97f4a7c15u, word;
  for (; length >= 8; length -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  word = 0;
  memcpy(&word, bytes, length);
  hash = (hash ^ word) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 32);
}

cfloor_clock *cfloor_clock_create(uint32_t capacity) {
  cfloor_clock *cache = calloc(1, sizeof *cache);
  uint64_t places = 16;
  while (places * 3 < (uint64_t)capacity * 5) places *= 2;
  pthread_mutex_init(&cache->lock, NULL);
  cache->capacity = capacity;
  cache->mask = places - 1;
  cache->entries = calloc(capacity, sizeof *cache->entries);
  cache->index = calloc(places, sizeof *cache->index);
  return cache;
}

void cfloor_clock_destroy(cfloor_clock *cache) {
  pthread_mutex_destroy(&cache->lock);
  free(cache->entries);
  free(cache->index);
  free(cache);
}

static entry *find(cfloor_clock *cache, const void *key, uint32_t length, uint64_t hash) {
  for (uint64_t place = hash & cache->mask;; place = (place + 1) & cache->mask) {
    uint64_t word = cache->index[place];
    if (!word) return NULL;
    if (word >> 32 != (hash & 0xffffffff)) continue;
    entry *found = &cache->entries[(uint32_t)word - 1];
    if (found->length == length && (found->key == key || !memcmp(found->key, key, length))) return found;
  }
}

static void unlink_entry(cfloor_clock *cache, uint32_t number) {
  uint64_t mask = cache->mask, *index = cache->index;
  uint64_t hole = cache->entries[number].hash & mask;
  while ((uint32_t)index[hole] != number + 1) hole = (hole + 1) & mask;
  for (uint64_t next = (hole + 1) & mask; index[next]; next = (next + 1) & mask) {
    uint64_t home = (index[next] >> 32) & mask;
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      index[hole] = index[next];
      hole = next;
    }
  }
  index[hole] = 0;
}

int64_t cfloor_clock_get(cfloor_clock *cache, const void *key, uint32_t length) {
  uint64_t hash = hash_of(key, length);
  int64_t value = -1;
  pthread_mutex_lock(&cache->lock);
  entry *found = find(cache, key, length, hash);
  if (found) {
    found->used = 1;
    value = found->value;
  }
  pthread_mutex_unlock(&cache->lock);
  return value;
}

void cfloor_clock_set(cfloor_clock *cache, const void *key, uint32_t length, int64_t value) {
  uint64_t hash = hash_of(key, length);
  pthread_mutex_lock(&cache->lock);
  entry *found = find(cache, key, length, hash);
  if (found) {
    found->value = value;
    found->used = 1;
  } else {
    uint32_t number = cache->count;
    if (number < cache->capacity) {
      cache->count++;
    } else {
      while (cache->entries[cache->hand].used) {
        cache->entries[cache->hand].used = 0;
        cache->hand = cache->hand + 1 == cache->capacity ? 0 : cache->hand + 1;
      }
      number = cache->hand;
      cache->hand = cache->hand + 1 == cache->capacity ? 0 : cache->hand + 1;
      unlink_entry(cache, number);
    }
    cache->entries[number] = (entry){key, value, hash, length, 0};
    uint64_t place = hash & cache->mask;
    while (cache->index[place]) place = (place + 1) & cache->mask;
    cache->index[place] = hash << 32 | (number + 1);
  }
  pthread_mutex_unlock(&cache->lock);
}
