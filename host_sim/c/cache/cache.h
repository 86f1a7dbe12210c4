/* Caches: an LRU part whose size may change, whole traces under LRU, FIFO or Belady with object sizes, and
 * Mattson stack distances. Memory is taken by the _new functions and given back by _free; NULL means none left. */
#ifndef CACHE_H
#define CACHE_H
#include <stdint.h>

/* cffi begin */
enum { CACHE_LRU, CACHE_FIFO, CACHE_BELADY };

/* ---- one LRU part of unit-size lines ---- */
typedef struct cache_part cache_part;

cache_part *cache_part_new(int32_t most_lines);
void cache_part_free(cache_part *part);
void cache_part_clear(cache_part *part);
/* Sets the size; lines beyond it leave at once, least recently used first. Needs 0 <= lines <= most_lines. */
void cache_part_resize(cache_part *part, int32_t lines);
int32_t cache_part_held(const cache_part *part);
/* Requests keys in order; returns the hits. O(1) a request. */
int64_t cache_part_run(cache_part *part, const uint64_t *keys, int64_t n);
/* Requests of two parts, each of the part that slot[i] names; hits of both and how many were the second's. */
void cache_parts_run(cache_part *first, cache_part *second, const uint64_t *keys, const uint8_t *slot, int64_t n,
                     int64_t found[3]);

/* ---- a whole trace, objects with sizes ----
 * An object larger than the cache is never admitted, every other one always; the size kept is the one at admission.
 * next[i] is any number that grows with the time of the next use, negative for never (Belady only, else NULL).
 * hit[i] becomes 0 or 1. Returns the hits, or -1 when memory ran out. */
int64_t cache_trace(int32_t policy, const uint64_t *ids, const uint32_t *sizes, const int64_t *next, int64_t n,
                    int64_t capacity, uint8_t *hit);

/* ---- stack distances ---- */
typedef struct cache_stack cache_stack;

cache_stack *cache_stack_new(int64_t most_objects);
void cache_stack_free(cache_stack *stack);
int64_t cache_stack_objects(const cache_stack *stack);
/* distance[i] = number of distinct objects used since the last use of keys[i], itself included (so LRU of that many
 * lines hits), 0 for the first use. Stops before an object beyond most_objects; returns how many keys were taken.
 * O(log most_objects) a key. */
int64_t cache_stack_run(cache_stack *stack, const uint64_t *keys, int64_t n, int64_t *distance);
/* Forgets every object whose hash is not below limit (see cache_hash); returns how many stay. */
int64_t cache_stack_keep(cache_stack *stack, uint64_t limit);
uint64_t cache_hash(uint64_t key);
void cache_hashes(const uint64_t *keys, int64_t n, uint64_t *hashes);

/* ---- synthetic requests ----
 * One epoch of two tenants: each of n requests is slot 0's with probability share, and a slot's request goes to its
 * own objects with probability home, else to the other's. Tenant t draws from alias tables of objects[t] entries, or,
 * when loops[t] is set, goes round its objects from *cursor[t]. Keys of tenant 1 start at 2^32. slot[i] is 0 or 1. */
void cache_epoch(uint64_t seed, int64_t n, double share, double home, const int32_t objects[2],
                 const double *const accept[2], const int32_t *const alias[2], const int32_t loops[2],
                 int32_t cursor[2], uint64_t *keys, uint8_t *slot);
/* cffi end */

#endif
