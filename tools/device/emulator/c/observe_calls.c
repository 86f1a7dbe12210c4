#include "observe_calls.h"

#include <string.h>

#include "adamb.h"
#include "work.h"

uint32_t adamb_work;

/* A number that looks random, for the draw; the constants are those of the 32-bit murmur finisher. */
static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return x ^ x >> 16;
}

static uint32_t find_lowest(const adamb_observe_calls *l)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < l->kept; i++) {
        found = l->keys[i] < l->keys[found] ? i : found;
    }
    return found;
}

static int wants(const adamb_observe_calls *l, uint32_t key)
{
    return l->kept < l->room || (l->room != 0 && key > l->keys[l->lowest]);
}

static void keep(adamb_observe_calls *l, uint32_t key, const uint16_t *block, uint32_t words, int h, uint16_t reward,
                 const uint16_t *next, uint32_t d_s)
{
    uint32_t i = l->kept < l->room ? l->kept++ : l->lowest;
    l->keys[i] = key;
    l->steps[i] = (uint16_t)h;
    l->rewards[i] = reward;
    memcpy(l->next + (size_t)3 * i, next, d_s * sizeof *next);
    memcpy(l->blocks + (uint64_t)words * i, block, words * sizeof *block);
    if (l->kept == l->room) {
        l->lowest = find_lowest(l);
    }
}

int adamb_observe_calls_keep(adamb_observe_calls *heaviest, adamb_observe_calls *sample, uint32_t number,
                             uint16_t *blocks, uint32_t words, uint32_t n, int h, uint32_t d_s,
                             const uint16_t *rewards, const uint16_t *next)
{
    static uint16_t before[1u << 17];
    for (uint32_t i = 0; i < n; i++, next += d_s) {
        uint16_t *block = blocks + (uint64_t)i * words;
        uint32_t draw = mixed(number + i);
        if (wants(sample, draw)) {
            keep(sample, draw, block, words, h, rewards[i], next, d_s);
        }
        memcpy(before, block, words * sizeof *block);
        adamb_work = 0;
        int error = adamb_observe(block, h, rewards[i], next);
        if (error != 0) {
            return error;
        }
        if (wants(heaviest, adamb_work)) {
            keep(heaviest, adamb_work, before, words, h, rewards[i], next, d_s);
        }
    }
    return 0;
}
