#include "cache/cache.h"
#include "cache/cache_table.h"
#include "sim_rng.h"
#include <stdlib.h>
#include <string.h>

uint64_t cache_hash(uint64_t key)
{
    return cache_table_hash(key);
}

void cache_hashes(const uint64_t *keys, int64_t n, uint64_t *hashes)
{
    for (int64_t i = 0; i < n; i++)
        hashes[i] = cache_hash(keys[i]);
}

/* ---- one LRU part ---- */

struct cache_part {
    cache_table table;
    int32_t lines;
};

cache_part *cache_part_new(int32_t most_lines)
{
    cache_part *part = malloc(sizeof *part);
    if (part == NULL || !cache_table_init(&part->table, most_lines < 1 ? 1 : most_lines)) {
        free(part);
        return NULL;
    }
    part->lines = most_lines;
    return part;
}

void cache_part_free(cache_part *part)
{
    if (part != NULL) {
        cache_table_free(&part->table);
        free(part);
    }
}

void cache_part_clear(cache_part *part)
{
    while (part->table.used > 0)
        cache_table_remove(&part->table, part->table.oldest);
}

void cache_part_resize(cache_part *part, int32_t lines)
{
    part->lines = lines;
    while (part->table.used > lines)
        cache_table_remove(&part->table, part->table.oldest);
}

int32_t cache_part_held(const cache_part *part)
{
    return part->table.used;
}

static int request(cache_part *part, uint64_t key)
{
    cache_table *table = &part->table;
    int32_t node = cache_table_find(table, key);
    if (node >= 0) {
        cache_table_touch(table, node);
        return 1;
    }
    if (part->lines > 0) {
        if (table->used == part->lines)
            cache_table_remove(table, table->oldest);
        cache_table_add(table, key);
    }
    return 0;
}

int64_t cache_part_run(cache_part *part, const uint64_t *keys, int64_t n)
{
    int64_t hits = 0;
    for (int64_t i = 0; i < n; i++)
        hits += request(part, keys[i]);
    return hits;
}

void cache_parts_run(cache_part *first, cache_part *second, const uint64_t *keys, const uint8_t *slot, int64_t n,
                     int64_t found[3])
{
    cache_part *part[2] = {first, second};
    found[0] = found[1] = found[2] = 0;
    for (int64_t i = 0; i < n; i++) {
        found[slot[i]] += request(part[slot[i]], keys[i]);
        found[2] += slot[i];
    }
}

/* ---- whole traces ---- */

typedef struct {
    cache_table table;
    int32_t policy;
    uint32_t *size;
    int64_t *due;        /* next use of the object in a node, negative never */
    int32_t *heap, *at;  /* nodes by due, farthest first; where a node is in the heap */
    int32_t heap_n;
} sized_cache;

static int farther(const sized_cache *cache, int32_t a, int32_t b)
{
    /* "never" becomes the largest unsigned number */
    return (uint64_t)cache->due[a] > (uint64_t)cache->due[b];
}

static void heap_set(sized_cache *cache, int32_t place, int32_t node)
{
    cache->heap[place] = node;
    cache->at[node] = place;
}

static void heap_settle(sized_cache *cache, int32_t place)
{
    int32_t node = cache->heap[place];
    while (place > 0 && farther(cache, node, cache->heap[(place - 1) / 2])) {
        heap_set(cache, place, cache->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child + 1 < cache->heap_n && farther(cache, cache->heap[child + 1], cache->heap[child]))
            child++;
        if (child >= cache->heap_n || !farther(cache, cache->heap[child], node))
            break;
        heap_set(cache, place, cache->heap[child]);
        place = child;
    }
    heap_set(cache, place, node);
}

static int32_t victim(sized_cache *cache)
{
    if (cache->policy != CACHE_BELADY)
        return cache->table.oldest;
    int32_t node = cache->heap[0], last = cache->heap[--cache->heap_n];
    if (cache->heap_n > 0) {
        heap_set(cache, 0, last);
        heap_settle(cache, 0);
    }
    return node;
}

static int sized_cache_init(sized_cache *cache, int32_t policy, int32_t most)
{
    memset(cache, 0, sizeof *cache);
    cache->policy = policy;
    size_t n = (size_t)most;
    cache->size = malloc(n * sizeof *cache->size);
    cache->due = malloc(n * sizeof *cache->due);
    cache->heap = malloc(n * sizeof *cache->heap);
    cache->at = malloc(n * sizeof *cache->at);
    return cache->size && cache->due && cache->heap && cache->at && cache_table_init(&cache->table, most);
}

static void sized_cache_free(sized_cache *cache)
{
    cache_table_free(&cache->table);
    free(cache->size);
    free(cache->due);
    free(cache->heap);
    free(cache->at);
}

static void sized_cache_hit(sized_cache *cache, int32_t node, int64_t due)
{
    if (cache->policy == CACHE_LRU)
        cache_table_touch(&cache->table, node);
    cache->due[node] = due;
    if (cache->policy == CACHE_BELADY)
        heap_settle(cache, cache->at[node]);
}

static void sized_cache_admit(sized_cache *cache, uint64_t id, uint32_t size, int64_t due)
{
    int32_t node = cache_table_add(&cache->table, id);
    cache->size[node] = size;
    cache->due[node] = due;
    if (cache->policy == CACHE_BELADY) {
        heap_set(cache, cache->heap_n++, node);
        heap_settle(cache, cache->heap_n - 1);
    }
}

int64_t cache_trace(int32_t policy, const uint64_t *ids, const uint32_t *sizes, const int64_t *next, int64_t n,
                    int64_t capacity, uint8_t *hit)
{
    sized_cache cache;
    int64_t hits = 0, occupied = 0;
    /* every object could be of size 0, so only the requests bound how many are held */
    if (n >= INT32_MAX / 2 || !sized_cache_init(&cache, policy, n < 1 ? 1 : (int32_t)n)) {
        if (n < INT32_MAX / 2)
            sized_cache_free(&cache);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t due = next == NULL ? 0 : next[i];
        int32_t node = cache_table_find(&cache.table, ids[i]);
        hit[i] = node >= 0;
        if (node >= 0) {
            sized_cache_hit(&cache, node, due);
            hits++;
        } else if (sizes[i] <= capacity) {
            while (occupied + sizes[i] > capacity) {
                int32_t out = victim(&cache);
                occupied -= cache.size[out];
                cache_table_remove(&cache.table, out);
            }
            sized_cache_admit(&cache, ids[i], sizes[i], due);
            occupied += sizes[i];
        }
    }
    sized_cache_free(&cache);
    return hits;
}

/* ---- synthetic requests ---- */

static uint32_t below(sim_rng *rng, uint32_t n)
{
    return (uint32_t)(((sim_rng_next(rng) >> 32) * (uint64_t)n) >> 32);
}

void cache_epoch(uint64_t seed, int64_t n, double share, double home, const int32_t objects[2],
                 const double *const accept[2], const int32_t *const alias[2], const int32_t loops[2],
                 int32_t cursor[2], uint64_t *keys, uint8_t *slot)
{
    sim_rng rng;
    sim_rng_seed(&rng, seed);
    for (int64_t i = 0; i < n; i++) {
        int asker = sim_rng_uniform(&rng) >= share;
        int tenant = asker ^ (sim_rng_uniform(&rng) >= home);
        uint32_t key;
        if (loops[tenant]) {
            key = (uint32_t)cursor[tenant];
            cursor[tenant] = (cursor[tenant] + 1) % objects[tenant];
        } else {
            key = below(&rng, (uint32_t)objects[tenant]);
            /* all ones or none, since no processor foresees a branch that chance decides */
            uint32_t replaced = 0u - (uint32_t)(sim_rng_uniform(&rng) >= accept[tenant][key]);
            key ^= (key ^ (uint32_t)alias[tenant][key]) & replaced;
        }
        keys[i] = ((uint64_t)tenant << 32) | key;
        slot[i] = (uint8_t)asker;
    }
}
