/* Mattson stack distances, and requests of two tenants. Memory is taken by cache_stack_new and given back by
 * cache_stack_free; NULL means none left. */
#ifndef CACHE_H
#define CACHE_H
#include <stdint.h>

/* cffi begin */
typedef struct cache_stack cache_stack;

cache_stack *cache_stack_new(int64_t most_objects);
void cache_stack_free(cache_stack *stack);
int64_t cache_stack_objects(const cache_stack *stack);
/* Number of distinct objects used since the last use of key, itself included (so LRU of that many lines hits), 0 for
 * the first use. The object used longest ago is forgotten for one beyond most_objects. */
int64_t cache_stack_use(cache_stack *stack, uint64_t key);
/* The distances of n keys. Stops before an object beyond most_objects; returns how many keys were taken. */
int64_t cache_stack_run(cache_stack *stack, const uint64_t *keys, int64_t n, int64_t *distance);
/* Number of n keys that an LRU cache of most_objects lines hits. */
int64_t cache_stack_hits(cache_stack *stack, const uint64_t *keys, int64_t n);
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
