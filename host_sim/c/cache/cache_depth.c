#include "cache/cache_depth.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 6, GROUP = 10, WORDS_OF_GROUP = 1 << (GROUP - WORD) };

static size_t words_of(const cache_depth *depth)
{
    return (size_t)((depth->room >> GROUP) + 1) * WORDS_OF_GROUP;
}

static size_t groups_of(const cache_depth *depth)
{
    return (size_t)(depth->room >> GROUP) + 1;
}

int cache_depth_init(cache_depth *depth, int64_t objects, int64_t uses, int32_t most)
{
    memset(depth, 0, sizeof *depth);
    depth->room = uses;
    depth->most = most;
    depth->base = 1;
    depth->last = calloc((size_t)objects, sizeof *depth->last);
    depth->bits = calloc(words_of(depth), sizeof *depth->bits);
    depth->words = calloc(words_of(depth), sizeof *depth->words);
    depth->groups = calloc(groups_of(depth), sizeof *depth->groups);
    return depth->last && depth->bits && depth->words && depth->groups;
}

void cache_depth_free(cache_depth *depth)
{
    free(depth->last);
    free(depth->bits);
    free(depth->words);
    free(depth->groups);
}

void cache_depth_clear(cache_depth *depth)
{
    size_t groups = (size_t)(depth->next >> GROUP) + 1, words = groups * WORDS_OF_GROUP;
    memset(depth->bits, 0, words * sizeof *depth->bits);
    memset(depth->words, 0, words * sizeof *depth->words);
    memset(depth->groups, 0, groups * sizeof *depth->groups);
    depth->base += depth->next;
    depth->next = depth->floor = depth->objects = 0;
    depth->inside = 0;
}

static int ones(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (int)((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

static int32_t bits_from(const cache_depth *depth, int64_t place)
{
    int64_t word = place >> WORD, group = place >> GROUP, last = depth->next >> GROUP;
    int32_t sum = ones(depth->bits[word] >> (place & 63));
    for (int64_t i = word + 1; i < (group + 1) * WORDS_OF_GROUP; i++)
        sum += depth->words[i];
    for (int64_t i = group + 1; i <= last; i++)
        sum += depth->groups[i];
    return sum;
}

/* One more object is inside; where there is no room, the place of the oldest is beyond the floor. */
static void enter(cache_depth *depth)
{
    if (depth->inside < depth->most) {
        depth->inside++;
        return;
    }
    while (depth->floor < depth->next && !(depth->bits[depth->floor >> WORD] >> (depth->floor & 63) & 1))
        depth->floor++;
    depth->floor++;
}

int32_t cache_depth_use(cache_depth *depth, int64_t object)
{
    int64_t place = depth->last[object] - depth->base, now = depth->next;
    int32_t found = depth->most + 1;
    if (place >= depth->floor) {
        found = bits_from(depth, place);
        depth->bits[place >> WORD] &= ~((uint64_t)1 << (place & 63));
        depth->words[place >> WORD]--;
        depth->groups[place >> GROUP]--;
    } else {
        depth->objects += place < 0;
        enter(depth);
    }
    depth->bits[now >> WORD] |= (uint64_t)1 << (now & 63);
    depth->words[now >> WORD]++;
    depth->groups[now >> GROUP]++;
    depth->last[object] = depth->base + now;
    depth->next = now + 1;
    return found;
}
