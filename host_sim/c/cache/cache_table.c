#include "cache/cache_table.h"
#include <stdlib.h>
#include <string.h>

/* Up to so many nodes, buckets are cheap: four a node, so that few keys share one. */
enum { FEW = 1 << 20 };

int cache_table_init(cache_table *table, int32_t most)
{
    memset(table, 0, sizeof *table);
    uint32_t buckets = 1;
    uint32_t wanted = most < FEW ? 4 * (uint32_t)most : (uint32_t)most;
    while (buckets < wanted)
        buckets *= 2;
    size_t n = (size_t)most;
    table->key = malloc(n * sizeof *table->key);
    table->chain = malloc(n * sizeof *table->chain);
    table->newer = malloc(n * sizeof *table->newer);
    table->older = malloc(n * sizeof *table->older);
    table->bucket = malloc(buckets * sizeof *table->bucket);
    if (!table->key || !table->chain || !table->newer || !table->older || !table->bucket)
        return 0;
    for (int32_t node = 0; node < most; node++)
        table->chain[node] = node + 1 < most ? node + 1 : -1;
    memset(table->bucket, 0xFF, buckets * sizeof *table->bucket);
    table->mask = buckets - 1;
    table->most = most;
    table->newest = table->oldest = -1;
    return 1;
}

void cache_table_free(cache_table *table)
{
    free(table->key);
    free(table->chain);
    free(table->newer);
    free(table->older);
    free(table->bucket);
    memset(table, 0, sizeof *table);
}

static void link_newest(cache_table *table, int32_t node)
{
    table->newer[node] = -1;
    table->older[node] = table->newest;
    if (table->newest >= 0)
        table->newer[table->newest] = node;
    else
        table->oldest = node;
    table->newest = node;
}

static void unlink_node(cache_table *table, int32_t node)
{
    int32_t newer = table->newer[node], older = table->older[node];
    if (newer >= 0)
        table->older[newer] = older;
    else
        table->newest = older;
    if (older >= 0)
        table->newer[older] = newer;
    else
        table->oldest = newer;
}

int32_t cache_table_add(cache_table *table, uint64_t key)
{
    int32_t node = table->free_node;
    int32_t *bucket = &table->bucket[cache_table_hash(key) & table->mask];
    table->free_node = table->chain[node];
    table->key[node] = key;
    table->chain[node] = *bucket;
    *bucket = node;
    link_newest(table, node);
    table->used++;
    return node;
}

void cache_table_remove(cache_table *table, int32_t node)
{
    int32_t *from = &table->bucket[cache_table_hash(table->key[node]) & table->mask];
    while (*from != node)
        from = &table->chain[*from];
    *from = table->chain[node];
    unlink_node(table, node);
    table->chain[node] = table->free_node;
    table->free_node = node;
    table->used--;
}

void cache_table_touch(cache_table *table, int32_t node)
{
    if (table->newest != node) {
        unlink_node(table, node);
        link_newest(table, node);
    }
}
