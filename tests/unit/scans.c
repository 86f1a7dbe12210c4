/* Counts the work of every observe, and of the end of every held episode: scans, their balls, and expectations. The core is a shared library, whose calls of
 * its own functions come by here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "adamb_internal.h"

static int scans, scanning, balls, expected, expected_outside;
static int most_outside, most_beyond = -1; /* expectations outside of scans; in a scan, beyond one a ball */

/* The function of the library that has the name of this one. */
#define REAL(type, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, __func__))

void adamb_tree_scan(const adamb_call *c, uint16_t state_code, adamb_choice *best)
{
    scans++;
    scanning = 1;
    balls = expected = 0;
    REAL(void, const adamb_call *, uint16_t, adamb_choice *)(c, state_code, best);
    scanning = 0;
    most_beyond = expected - balls > most_beyond ? expected - balls : most_beyond;
}

void adamb_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where)
{
    balls++;
    REAL(void, const adamb_call *, adamb_ranking *, uint32_t, uint32_t)(c, r, word, where);
}

uint32_t adamb_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level)
{
    if (scanning) {
        expected++;
    } else {
        expected_outside++;
    }
    return REAL(uint32_t, const adamb_call *, uint32_t, uint32_t)(c, rec, level);
}

static int most, failed;

static void begin(void)
{
    scans = expected_outside = 0;
}

static void end(int error)
{
    failed |= error != 0;
    most = scans > most ? scans : most;
    most_outside = expected_outside > most_outside ? expected_outside : most_outside;
}

/* Arguments: state dimensions, action dimensions, words, whether steps share. Prints the most scans of a call, the finest
 * level, the header's bytes for horizons of 4 and 8, the most expectations of a call outside of its scans, and the most
 * that a scan computes beyond one a ball. */
int main(int argc, char **argv)
{
    static uint16_t block[8192];
    adamb_config config;
    adamb_statistics stats;
    uint32_t header[2], seed = 1;
    if (argc != 5) {
        return 2;
    }
    uint32_t words = (uint32_t)atoi(argv[3]);
    for (int twice = 1; twice >= 0; twice--) {
        adamb_config_default(&config, (uint8_t)atoi(argv[1]), (uint8_t)atoi(argv[2]), (uint8_t)(twice ? 8 : 4));
        adamb_thresholds(&config, 1, 1, 1);
        config.share = (uint8_t)atoi(argv[4]);
        if (adamb_init(&config, block, words) != 0 || adamb_stats(block, &stats) != 0) {
            return 3;
        }
        header[twice] = stats.units_header * 8u;
    }
    for (int i = 0; i < 20000; i++) {
        uint16_t state[3], action[3];
        for (int k = 0; k < 3; k++) {
            seed = seed * 1103515245u + 12345u;
            state[k] = (uint16_t)(seed >> 16);
        }
        block[ADAMB_H_HELD] = (uint16_t)(config.share & (uint32_t)i >> 2); /* every second episode */
        failed |= adamb_act(block, i % 4, state, action) != 0;
        begin();
        end(adamb_observe(block, i % 4, (uint16_t)(seed >> 8), state));
        if (i % 4 == 3) {
            begin();
            end(adamb_end_episode(block));
        }
    }
    if (failed) {
        return 4;
    }
    printf("%d %u %u %u %d %d\n", most, stats.finest, header[0], header[1], most_outside, most_beyond);
    return 0;
}
