/* AdaMB: model-based reinforcement learning with adaptive discretization inside one block of memory.
 *
 * The caller owns the block, an array of 16-bit words. Everything the controller knows lives in it: nothing is
 * allocated, there are no global variables, no floating point, no recursion, and no call touches a word outside
 * the block. A copy of the block is a copy of the controller; a dump from a board opens on a host.
 *
 *     adamb_config config = {.d_s = 1, .d_a = 1, .horizon = 5, .share = 2, .detect = 1, .auto_bonus = 1, .seed = 1};
 *     adamb_thresholds(&config, 2, 1, 1);
 *     static uint16_t block[2048];                                  // 4 KiB
 *     if (adamb_init(&config, block, 2048) != 0) { ... }
 *     for (;;) {                                                    // one episode of `horizon` steps
 *         for (int h = 0; h < 5; h++) {
 *             adamb_act(block, h, &state, &action);                 // on the critical path: short
 *             ... play the action, measure the reward and the next state ...
 *             adamb_observe(block, h, reward, &next);               // learns: longer
 *         }
 *         adamb_end_episode(block);
 *     }
 *
 * Numbers. Coordinates and rewards are fractions of one in 16 bits: 0 is 0.0, 65535 is just below 1.0. Scale
 * your sensors and actuators to that range; a reward must lie in it.
 * Order. `observe` refers to the last `act` of the same h. Steps may be left out; an `act` that is not followed
 * by `observe` is forgotten by the next `act` of that h.
 * Results. 0 or a non-negative value on success, one of the negative codes below otherwise; on an error no word
 * has changed. A full pool is not an error: see `freeze` and the counters.
 * Interrupts. One block, one caller: no two calls may work on the same block at the same time. `act` is short
 * enough for an interrupt handler if `observe` and `end_episode` run with that interrupt masked.
 * Work. L is the finest level (stats), R the balls relevant to one state, at most 2^(d_a*L) and at most the pool.
 * The bounds in instructions that follow from the formulas below are in SPEC.md, section Work. */
#ifndef ADAMB_H
#define ADAMB_H
#include <stdint.h>

/* cffi begin */
enum {
    ADAMB_OK = 0,
    ADAMB_BAD_ARGUMENT = -1, /* null pointer, or h outside the horizon */
    ADAMB_BAD_CONFIG = -2,   /* a configuration field outside its limit */
    ADAMB_NO_MEMORY = -3,    /* fewer words than adamb_required_words */
    ADAMB_BAD_BLOCK = -4,    /* not a block of this version, or damaged */
    ADAMB_BAD_ORDER = -5     /* observe without act */
};

typedef struct {
    uint8_t d_s;           /* state dimensions, 1..3; RAM: finer levels need more units */
    uint8_t d_a;           /* action dimensions, 1..3 */
    uint8_t horizon;       /* steps of an episode, 1..31; RAM: 14 bytes each, plus a value tree each */
    uint8_t paper;         /* 0 tracking: values follow the model. 1: values only decrease, as in the paper */
    uint8_t own;           /* 0: a split counts inherited samples. 1: own samples only, as in the paper */
    uint8_t share;         /* 0: a partition for each step. 1: one for all. 2: one, until steps turn out to differ */
    uint8_t freeze;        /* when the pool is full, 0: reclaim what was not used lately. 1: stop splitting */
    uint8_t random_action; /* 0: play the centre of a ball. 1: a random point of it */
    uint8_t detect;        /* 1: restart when returns fall far below their mean. 0: never */
    uint8_t auto_bonus;    /* 1: exploration tunes itself. 0: `bonus` */
    uint16_t bonus;        /* c * 4096 in the bonus c/sqrt(n), 0..32767 (just below 8); 0 explores by ties only */
    uint16_t seed;         /* of the controller's own random numbers; 0 is a seed too */
    uint16_t thresholds[15]; /* samples at which a ball of level 0..14 splits: 1.., not decreasing; above 8190 never */
} adamb_config;

typedef struct {
    uint32_t episodes;
    uint16_t units, units_used, units_peak, units_header; /* 8 bytes each; peak never decreases */
    uint16_t splits;   /* balls that are split now; leaves = trees + (2^(d_s+d_a) - 1) * splits */
    uint16_t trees;    /* partitions: 1 when steps share, else the horizon */
    uint16_t finest;   /* the finest level that a ball can reach */
    uint16_t share;    /* 0 off, 1 on, 2 still testing */
    uint16_t bonus;    /* c * 4096 in force */
    /* Counters; they stop at 65535 and never decrease. */
    uint16_t refused;     /* splits refused for want of a unit */
    uint16_t no_room;     /* samples that went to the parent (or, at a root, nowhere) for want of a record */
    uint16_t reclaims;    /* pieces of the partition given back */
    uint16_t saturations; /* times that counts were halved */
    uint16_t restarts;    /* times that learning began anew after a change */
} adamb_statistics;

/* Fill in config->thresholds with ceil(phi * 2^(gamma * level)), phi = phi_num / phi_den; more than 8190 becomes
 * "never", and so does gamma * level of 14 or more, which is the same for phi of a half or more. phi_num or phi_den 0
 * gives thresholds that init refuses. Before: gamma 1..14. Work: 15 divisions. Touches config only. */
void adamb_thresholds(adamb_config *config, uint8_t gamma, uint16_t phi_num, uint16_t phi_den);

/* The smallest block that adamb_init accepts, in words. Errors: BAD_ARGUMENT, BAD_CONFIG. Work: constant. */
int32_t adamb_required_words(const adamb_config *config);

/* Make a controller of the block. Words beyond 131,068 (256 KiB) and a rest of less than four are left unused.
 * Errors: BAD_ARGUMENT, BAD_CONFIG, NO_MEMORY. Work: O(words). Touches the whole block. */
int adamb_init(const adamb_config *config, uint16_t *block, uint32_t words);

/* Choose an action for the state: d_s coordinates in, d_a coordinates out.
 * Errors: BAD_ARGUMENT, BAD_BLOCK. Work: O(d_s * L), one walk of the value tree. Touches two words of the step. */
int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action);

/* Learn from what followed the last act of step h. Errors: BAD_ARGUMENT, BAD_BLOCK, BAD_ORDER.
 * Work: O(d_s * L * R), at most three scans of the relevant balls (paper mode: one for every state cell under the
 * ball). Touches the header, the step, and the units on the way. */
int adamb_observe(uint16_t *block, int h, uint16_t reward, const uint16_t *next_state);

/* Close the episode: change detection, end of the sharing test, perhaps a restart. Errors: BAD_ARGUMENT, BAD_BLOCK.
 * Work: constant; a restart O(horizon). Touches the header; a restart also the steps. */
int adamb_end_episode(uint16_t *block);

/* Read the counters. Errors: BAD_ARGUMENT, BAD_BLOCK. Work: constant. Changes nothing. */
int adamb_stats(const uint16_t *block, adamb_statistics *stats);

/* Walk everything: every unit is in use once or free once, every link and level in range, every mean right.
 * Errors: BAD_ARGUMENT; BAD_BLOCK for a block of another version or a damaged one, whatever its words are.
 * Work: O(units), ends for any content. Changes nothing. */
int adamb_check(const uint16_t *block, uint32_t words);
/* cffi end */

#endif
