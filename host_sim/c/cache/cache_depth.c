#include "cache/cache_depth.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 6, EIGHT = 9, GROUP = 10, WORDS_OF_GROUP = 1 << (GROUP - WORD), EIGHTS_OF_GROUP = 1 << (GROUP - EIGHT) };

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
    depth->bits = calloc(groups_of(depth) * WORDS_OF_GROUP, sizeof *depth->bits);
    depth->counts = calloc(groups_of(depth) * EIGHTS_OF_GROUP, sizeof *depth->counts);
    depth->groups = calloc(groups_of(depth), sizeof *depth->groups);
    return depth->last && depth->bits && depth->counts && depth->groups;
}

void cache_depth_free(cache_depth *depth)
{
    free(depth->last);
    free(depth->bits);
    free(depth->counts);
    free(depth->groups);
}

void cache_depth_clear(cache_depth *depth)
{
    size_t groups = (size_t)(depth->next >> GROUP) + 1;
    memset(depth->bits, 0, groups * WORDS_OF_GROUP * sizeof *depth->bits);
    memset(depth->counts, 0, groups * EIGHTS_OF_GROUP * sizeof *depth->counts);
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

/* Of the words of a group that follow the one of a place; no loop, as nobody foresees how many they are. */
static int32_t bits_after(const cache_depth *depth, int64_t place)
{
    const uint64_t *counts = depth->counts + (place >> GROUP) * EIGHTS_OF_GROUP, pairs = 0x00FF00FF00FF00FFu;
    int shift = (int)(place >> WORD & 7) * 8, late = (int)(place >> EIGHT & 1);
    uint64_t first = counts[0] >> shift >> 8, second = counts[1] >> shift >> 8;
    uint64_t sum = late ? second : first + counts[1]; /* a word has at most 64 bits */
    sum = (sum & pairs) + (sum >> 8 & pairs);
    return (int32_t)(sum * 0x0001000100010001u >> 48);
}

static int32_t bits_from(const cache_depth *depth, int64_t place)
{
    int64_t last = depth->next >> GROUP;
    int32_t sum = ones(depth->bits[place >> WORD] >> (place & 63)) + bits_after(depth, place);
    for (int64_t i = (place >> GROUP) + 1; i <= last; i++)
        sum += depth->groups[i];
    return sum;
}

static void set_bit(cache_depth *depth, int64_t place, int set)
{
    uint64_t one = (uint64_t)1 << (place >> WORD & 7) * 8;
    depth->bits[place >> WORD] ^= (uint64_t)1 << (place & 63);
    depth->counts[place >> EIGHT] += set ? one : 0 - one;
    depth->groups[place >> GROUP] = (uint16_t)(depth->groups[place >> GROUP] + (set ? 1 : -1));
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
        set_bit(depth, place, 0);
    } else {
        depth->objects += place < 0;
        enter(depth);
    }
    set_bit(depth, now, 1);
    depth->last[object] = (int32_t)(depth->base + now);
    depth->next = now + 1;
    return found;
}
