/* Stack distances by a Fenwick tree over positions in time: each object holds one position, the one of its last use,
 * so the distance is the number of positions taken since. Positions run out after a while and are then renumbered
 * in order, which costs O(n) once in n requests. */
#include "cache/cache.h"
#include "cache/cache_table.h"
#include <stdlib.h>
#include <string.h>

struct cache_stack {
    cache_table table;
    int64_t *position; /* of the last use, by node; from 1 */
    int32_t *tree;     /* Fenwick counts over positions 1..width */
    int64_t width, last;
};

cache_stack *cache_stack_new(int64_t most_objects)
{
    if (most_objects < 1 || most_objects > INT32_MAX / 4)
        return NULL;
    cache_stack *stack = calloc(1, sizeof *stack);
    if (stack == NULL)
        return NULL;
    stack->width = 2 * most_objects + 2;
    stack->position = malloc((size_t)most_objects * sizeof *stack->position);
    stack->tree = calloc((size_t)stack->width + 1, sizeof *stack->tree);
    if (!cache_table_init(&stack->table, (int32_t)most_objects) || !stack->position || !stack->tree) {
        cache_stack_free(stack);
        return NULL;
    }
    return stack;
}

void cache_stack_free(cache_stack *stack)
{
    if (stack != NULL) {
        cache_table_free(&stack->table);
        free(stack->position);
        free(stack->tree);
        free(stack);
    }
}

int64_t cache_stack_objects(const cache_stack *stack)
{
    return stack->table.used;
}

static void mark(cache_stack *stack, int64_t position, int32_t change)
{
    for (; position <= stack->width; position += position & -position)
        stack->tree[position] += change;
}

static int64_t marked_up_to(const cache_stack *stack, int64_t position)
{
    int64_t sum = 0;
    for (; position > 0; position -= position & -position)
        sum += stack->tree[position];
    return sum;
}

static void renumber(cache_stack *stack)
{
    cache_table *table = &stack->table;
    memset(stack->tree, 0, ((size_t)stack->width + 1) * sizeof *stack->tree);
    stack->last = 0;
    for (int32_t node = table->oldest; node >= 0; node = table->nodes[node].newer) {
        stack->position[node] = ++stack->last;
        mark(stack, stack->last, 1);
    }
}

int64_t cache_stack_run(cache_stack *stack, const uint64_t *keys, int64_t n, int64_t *distance)
{
    cache_table *table = &stack->table;
    for (int64_t i = 0; i < n; i++) {
        int32_t node = cache_table_find(table, keys[i]);
        if (node < 0 && table->used == table->most)
            return i;
        if (stack->last == stack->width)
            renumber(stack);
        if (node >= 0) {
            distance[i] = table->used - marked_up_to(stack, stack->position[node] - 1);
            mark(stack, stack->position[node], -1);
            cache_table_touch(table, node);
        } else {
            distance[i] = 0;
            node = cache_table_add(table, keys[i]);
        }
        stack->position[node] = ++stack->last;
        mark(stack, stack->last, 1);
    }
    return n;
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
