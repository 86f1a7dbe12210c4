#include "cache/cache.h"

#include <stdlib.h>
#include <string.h>

#include "sim_rng.h"

/* ---- keys in a hash table and in order of use at once: a fixed number of nodes, chained buckets, one list ---- */

/* What a request reads of a node lies in one place, since there are more nodes than the processor keeps near. */
typedef struct {
    uint64_t key;
    int32_t chain;        /* next node of the bucket; of a free node, the next free one */
    int32_t newer, older; /* neighbours in order of use, -1 at the ends */
    uint32_t place;       /* its bucket */
} cache_node;

typedef struct {
    cache_node *nodes;
    int32_t *bucket; /* first node of each bucket or -1 */
    uint32_t mask;
    int32_t most, used, free_node, newest, oldest;
} cache_table;

static inline uint64_t cache_table_hash(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

/* The node of a key, -1: not there. */
static inline int32_t cache_table_find(const cache_table *table, uint64_t key)
{
    int32_t node = table->bucket[cache_table_hash(key) & table->mask];
    while (node >= 0 && table->nodes[node].key != key)
        node = table->nodes[node].chain;
    return node;
}

/* Up to so many nodes, buckets are cheap: four a node, so that few keys share one. */
enum { FEW = 1 << 20 };

/* 1 when memory sufficed; free it in either case. */
static int cache_table_init(cache_table *table, int32_t most)
{
    memset(table, 0, sizeof *table);
    uint32_t buckets = 1;
    uint32_t wanted = most < FEW ? 4 * (uint32_t)most : (uint32_t)most;
    while (buckets < wanted)
        buckets *= 2;
    size_t n = (size_t)most;
    table->nodes = malloc(n * sizeof *table->nodes);
    table->bucket = malloc(buckets * sizeof *table->bucket);
    if (!table->nodes || !table->bucket)
        return 0;
    for (int32_t node = 0; node < most; node++)
        table->nodes[node].chain = node + 1 < most ? node + 1 : -1;
    memset(table->bucket, 0xFF, buckets * sizeof *table->bucket);
    table->mask = buckets - 1;
    table->most = most;
    table->newest = table->oldest = -1;
    return 1;
}

static void cache_table_free(cache_table *table)
{
    free(table->nodes);
    free(table->bucket);
    memset(table, 0, sizeof *table);
}

static void link_newest(cache_table *table, int32_t node)
{
    cache_node *nodes = table->nodes;
    nodes[node].newer = -1;
    nodes[node].older = table->newest;
    if (table->newest >= 0)
        nodes[table->newest].newer = node;
    else
        table->oldest = node;
    table->newest = node;
}

static void unlink_node(cache_table *table, int32_t node)
{
    cache_node *nodes = table->nodes;
    int32_t newer = nodes[node].newer, older = nodes[node].older;
    if (newer >= 0)
        nodes[newer].older = older;
    else
        table->newest = older;
    if (older >= 0)
        nodes[older].newer = newer;
    else
        table->oldest = newer;
}

/* As the newest; needs used < most, key not there. */
static int32_t cache_table_add(cache_table *table, uint64_t key)
{
    int32_t node = table->free_node;
    uint32_t place = (uint32_t)cache_table_hash(key) & table->mask;
    cache_node *one = &table->nodes[node];
    table->free_node = one->chain;
    one->key = key;
    one->place = place;
    one->chain = table->bucket[place];
    table->bucket[place] = node;
    link_newest(table, node);
    table->used++;
    return node;
}

static void cache_table_remove(cache_table *table, int32_t node)
{
    cache_node *nodes = table->nodes;
    int32_t *from = &table->bucket[nodes[node].place];
    while (*from != node)
        from = &nodes[*from].chain;
    *from = nodes[node].chain;
    unlink_node(table, node);
    nodes[node].chain = table->free_node;
    table->free_node = node;
    table->used--;
}

/* Make it the newest. */
static void cache_table_touch(cache_table *table, int32_t node)
{
    if (table->newest != node) {
        unlink_node(table, node);
        link_newest(table, node);
    }
}

uint64_t cache_hash(uint64_t key)
{
    return cache_table_hash(key);
}

void cache_hashes(const uint64_t *keys, int64_t n, uint64_t *hashes)
{
    for (int64_t i = 0; i < n; i++)
        hashes[i] = cache_hash(keys[i]);
}

/* ---- stack distances ---- */

/* Stack distances: each object holds one position in time, the one of its last use, so the distance is the number of
 * positions taken since. A bit says that a position is taken; they are counted by word and by group of words, so that
 * few are read. Positions run out after a while and are then renumbered in order. */
enum { WORD = 6, GROUP = 10, WORDS_OF_GROUP = 1 << (GROUP - WORD), ROOM = 4 };

struct cache_stack {
    cache_table table;
    int64_t *place; /* of the last use, by node */
    uint64_t *bits;
    uint8_t *words;
    uint16_t *groups;
    int64_t room, next;
};

cache_stack *cache_stack_new(int64_t most_objects)
{
    if (most_objects < 1 || most_objects > INT32_MAX / 4)
        return NULL;
    cache_stack *stack = calloc(1, sizeof *stack);
    if (stack == NULL)
        return NULL;
    size_t groups = (size_t)(ROOM * most_objects >> GROUP) + ROOM;
    stack->room = (int64_t)groups << GROUP;
    stack->place = malloc((size_t)most_objects * sizeof *stack->place);
    stack->bits = calloc(groups * WORDS_OF_GROUP, sizeof *stack->bits);
    stack->words = calloc(groups * WORDS_OF_GROUP, sizeof *stack->words);
    stack->groups = calloc(groups, sizeof *stack->groups);
    int ready = cache_table_init(&stack->table, (int32_t)most_objects);
    if (!ready || !stack->place || !stack->bits || !stack->words || !stack->groups) {
        cache_stack_free(stack);
        return NULL;
    }
    return stack;
}

void cache_stack_free(cache_stack *stack)
{
    if (stack != NULL) {
        cache_table_free(&stack->table);
        free(stack->place);
        free(stack->bits);
        free(stack->words);
        free(stack->groups);
        free(stack);
    }
}

int64_t cache_stack_objects(const cache_stack *stack)
{
    return stack->table.used;
}

static void take(cache_stack *stack, int64_t place)
{
    stack->bits[place >> WORD] |= (uint64_t)1 << (place & 63);
    stack->words[place >> WORD]++;
    stack->groups[place >> GROUP]++;
}

static void leave(cache_stack *stack, int64_t place)
{
    stack->bits[place >> WORD] &= ~((uint64_t)1 << (place & 63));
    stack->words[place >> WORD]--;
    stack->groups[place >> GROUP]--;
}

static int64_t ones(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (int64_t)((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

/* Positions taken from this one on. */
static int64_t taken_from(const cache_stack *stack, int64_t place)
{
    int64_t word = place >> WORD, group = place >> GROUP, last = stack->next >> GROUP;
    int64_t sum = ones(stack->bits[word] >> (place & 63));
    for (int64_t i = word + 1; i < (group + 1) * WORDS_OF_GROUP; i++)
        sum += stack->words[i];
    for (int64_t i = group + 1; i <= last; i++)
        sum += stack->groups[i];
    return sum;
}

static void put(cache_stack *stack, int32_t node)
{
    stack->place[node] = stack->next;
    take(stack, stack->next++);
}

static void renumber(cache_stack *stack)
{
    size_t groups = (size_t)stack->room >> GROUP;
    memset(stack->bits, 0, groups * WORDS_OF_GROUP * sizeof *stack->bits);
    memset(stack->words, 0, groups * WORDS_OF_GROUP * sizeof *stack->words);
    memset(stack->groups, 0, groups * sizeof *stack->groups);
    stack->next = 0;
    for (int32_t node = stack->table.oldest; node >= 0; node = stack->table.nodes[node].newer)
        put(stack, node);
}

int64_t cache_stack_use(cache_stack *stack, uint64_t key)
{
    cache_table *table = &stack->table;
    int32_t node = cache_table_find(table, key);
    int64_t distance = 0;
    if (stack->next == stack->room - 1)
        renumber(stack);
    if (node >= 0) {
        distance = taken_from(stack, stack->place[node]);
        leave(stack, stack->place[node]);
        cache_table_touch(table, node);
    } else {
        if (table->used == table->most) {
            leave(stack, stack->place[table->oldest]);
            cache_table_remove(table, table->oldest);
        }
        node = cache_table_add(table, key);
    }
    put(stack, node);
    return distance;
}

int64_t cache_stack_run(cache_stack *stack, const uint64_t *keys, int64_t n, int64_t *distance)
{
    const cache_table *table = &stack->table;
    for (int64_t i = 0; i < n; i++) {
        if (table->used == table->most && cache_table_find(table, keys[i]) < 0)
            return i;
        distance[i] = cache_stack_use(stack, keys[i]);
    }
    return n;
}

int64_t cache_stack_hits(cache_stack *stack, const uint64_t *keys, int64_t n)
{
    int64_t hits = 0;
    for (int64_t i = 0; i < n; i++)
        hits += cache_stack_use(stack, keys[i]) > 0;
    return hits;
}

int64_t cache_stack_keep(cache_stack *stack, uint64_t limit)
{
    cache_table *table = &stack->table;
    for (int32_t node = table->oldest; node >= 0;) {
        int32_t newer = table->nodes[node].newer;
        if (cache_hash(table->nodes[node].key) >= limit)
            cache_table_remove(table, node);
        node = newer;
    }
    renumber(stack);
    return table->used;
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
