/* Keys in a hash table and in order of use at once: a fixed number of nodes, chained buckets, one list. */
#ifndef CACHE_TABLE_H
#define CACHE_TABLE_H
#include <stdint.h>

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

/* 1 when memory sufficed; free it in either case. */
int cache_table_init(cache_table *table, int32_t most);
void cache_table_free(cache_table *table);
int32_t cache_table_add(cache_table *table, uint64_t key);        /* as the newest; needs used < most, key not there */
void cache_table_remove(cache_table *table, int32_t node);
void cache_table_touch(cache_table *table, int32_t node); /* make it the newest */

/* Here and not in a file of their own: every request needs them. */
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

#endif
