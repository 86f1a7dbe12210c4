/* Counts the work of every observe: scans, their balls, and expectations. The core's own functions are compiled under
 * other names. */
#include <stdio.h>
#include <stdlib.h>

#include "adamb_internal.h"

static int scans, scanning, balls, expected, expected_outside;
static int most_outside, most_beyond = -1; /* expectations outside of scans; in a scan, beyond one a ball */

void real_tree_scan(adamb_call *c, uint16_t state_code);
void real_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where);
uint32_t real_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level);

void adamb_tree_scan(adamb_call *c, uint16_t state_code)
{
    scans++;
    scanning = 1;
    balls = expected = 0;
    real_tree_scan(c, state_code);
    scanning = 0;
    most_beyond = expected - balls > most_beyond ? expected - balls : most_beyond;
}

void adamb_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where)
{
    balls++;
    real_rank_ball(c, r, word, where);
}

uint32_t adamb_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level)
{
    if (scanning) {
        expected++;
    } else {
        expected_outside++;
    }
    return real_counts_expect(c, rec, level);
}

/* Arguments: state dimensions, action dimensions, words. Prints the most scans of an observe, the finest level, the
 * header's bytes for horizons of 4 and 8, the most expectations of an observe outside of its scans, and the most that a
 * scan computes beyond one a ball. */
int main(int argc, char **argv)
{
    static uint16_t block[8192];
    adamb_config config;
    adamb_statistics stats;
    uint32_t header[2], seed = 1;
    int most = 0;
    if (argc != 4) {
        return 2;
    }
    uint32_t words = (uint32_t)atoi(argv[3]);
    for (int twice = 1; twice >= 0; twice--) {
        adamb_config_default(&config, (uint8_t)atoi(argv[1]), (uint8_t)atoi(argv[2]), (uint8_t)(twice ? 8 : 4));
        adamb_thresholds(&config, 1, 1, 1);
        config.share = ADAMB_SHARE_OFF;
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
        scans = expected_outside = 0;
        if (adamb_act(block, i % 4, state, action) != 0 || adamb_observe(block, i % 4, (uint16_t)(seed >> 8), state) != 0) {
            return 4;
        }
        most = scans > most ? scans : most;
        most_outside = expected_outside > most_outside ? expected_outside : most_outside;
        if (i % 4 == 3) {
            adamb_end_episode(block);
        }
    }
    printf("%d %u %u %u %d %d\n", most, stats.finest, header[0], header[1], most_outside, most_beyond);
    return 0;
}
