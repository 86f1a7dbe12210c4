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

void cache_table_free(cache_table *table)
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

int32_t cache_table_add(cache_table *table, uint64_t key)
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

void cache_table_remove(cache_table *table, int32_t node)
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

void cache_table_touch(cache_table *table, int32_t node)
{
    if (table->newest != node) {
        unlink_node(table, node);
        link_newest(table, node);
    }
}
