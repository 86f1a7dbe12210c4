/* AdaMB: model-based reinforcement learning with adaptive discretization inside one block of memory.
 *
 * The caller owns the block, an array of 16-bit words. All of the controller's state is in it: nothing is
 * allocated, there are no global variables, no floating point, no recursion, and no call accesses a word
 * outside the block. A copy of the block is a copy of the controller; a dump from a board can be read on a host.
 *
 *     enum { D_S = 1, D_A = 1, HORIZON = 5, WORDS = 2048 };         // one coordinate each, 4 KiB
 *     static uint16_t block[WORDS];
 *     adamb_config config;
 *     adamb_config_default(&config, D_S, D_A, HORIZON);
 *     drive(safe_output);                                           // first: what follows takes time
 *     if (adamb_init(&config, block, WORDS) != ADAMB_OK) { stop(); } // sets it and lets the watchdog reset the board
 *     for (;;) {                                                    // one episode
 *         for (int h = 0; h < HORIZON; h++) {
 *             uint16_t state[D_S], action[D_A];
 *             feed_watchdog();
 *             int inside = read_sensors(state);                     // 0: a reading was out of range
 *             if (inside && adamb_act(block, h, state, action) < 0) { stop(); } // on the critical path: short
 *             drive(inside ? action : safe_output);
 *             wait();
 *             if (!read_sensors(state) || !inside) { drive(safe_output); continue; } // not learnt from
 *             if (adamb_observe(block, h, reward_of(state), state) < 0) { stop(); } // learns: longer
 *         }
 *         if (adamb_end_episode(block) < 0) { stop(); }
 *     }
 *
 * Numbers. Coordinates and rewards are fractions of one in 16 bits: 0 is 0.0, 65535 is just below 1.0. Scale
 * your sensors and actuators to that range; a reward must lie in it.
 * Order. `observe` refers to the last `act` or `given` of the same h. Steps may be left out; an `act` that is not followed
 * by `observe` is forgotten by the next `act` of that h.
 * Results. 0 or a non-negative value on success, one of the negative codes below otherwise; on an error no word
 * has changed. A full pool is not an error: see `when_full` and the counters.
 * Interrupts. An interrupt handler may call `act` at any moment of an `observe` or `end_episode` that it interrupts, for
 * another h than the one observed. It stays inside the block, is not refused, and gets an action that a state's cell has
 * before, during or after the interrupted call (SPEC.md, section 15). No other two calls may overlap on one block. After a
 * restart an `act` of before it is forgotten: its `observe` returns ADAMB_BAD_ORDER.
 * Work. L is the finest level (stats), R the most balls that a scan visits, a constant (SPEC.md, 5.9).
 * SPEC.md, section 10, says what the formulas below count; `adamb latency` measures them in instructions. */
#ifndef ADAMB_H
#define ADAMB_H
#include <stdint.h>

/* Versions of this library, of the format of a block and of the format of a snapshot. A library of another version reads
 * blocks and snapshots of the same formats. */
#define ADAMB_VERSION "0.2.0"
#define ADAMB_VERSION_MAJOR 0
#define ADAMB_VERSION_MINOR 2
#define ADAMB_VERSION_PATCH 0
#define ADAMB_FORMAT_VERSION 3
#define ADAMB_SNAPSHOT_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* cffi begin */
enum {
    ADAMB_OK = 0,
    ADAMB_BAD_ARGUMENT = -1, /* null pointer, or h outside the horizon */
    ADAMB_BAD_CONFIG = -2,   /* a configuration field outside its limit */
    ADAMB_NO_MEMORY = -3,    /* fewer words than adamb_required_words */
    ADAMB_BAD_BLOCK = -4,    /* not a block of this version, or damaged */
    ADAMB_BAD_ORDER = -5     /* observe without act or given */
};

/* Values of the members of the same names. */
enum { ADAMB_MODE_TRACKING = 0, ADAMB_MODE_PAPER = 1 };
enum { ADAMB_SPLIT_COUNTS_INHERITED = 0, ADAMB_SPLIT_COUNTS_OWN = 1 };
enum { ADAMB_WHEN_FULL_RECLAIM = 0, ADAMB_WHEN_FULL_FREEZE = 1 };
enum {
    ADAMB_SHARE_OFF = 0,    /* a partition for each step */
    ADAMB_SHARE_ON = 1,     /* one for all steps */
    ADAMB_SHARE_TESTING = 2 /* one for all, until a test has decided whether steps differ */
};

/* adamb_config_default fills in every member; change what you need after it. */
typedef struct {
    uint8_t d_s;           /* state dimensions, 1..3; RAM: finer levels need more units */
    uint8_t d_a;           /* action dimensions, 1..3 */
    uint8_t horizon;       /* steps of an episode, 1..31; RAM: 26 bytes each and once more, plus a value tree each */
    uint8_t mode;          /* ADAMB_MODE_TRACKING: values follow the model. _PAPER: they only decrease, as in the paper */
    uint8_t split_counts;  /* ADAMB_SPLIT_COUNTS_INHERITED: a split counts the parent's samples too. _OWN: as in the paper */
    uint8_t share;         /* ADAMB_SHARE_* */
    uint8_t when_full;     /* a full pool, ADAMB_WHEN_FULL_RECLAIM: frees what was not used lately. _FREEZE: no split */
    uint8_t random_action; /* 0: play the centre of a ball. 1: a random point of it, but in held episodes */
    uint8_t detect;        /* 1: restart when returns fall far below their mean. 0: never */
    uint8_t auto_bonus;    /* 1: exploration tunes itself. 0: `bonus` */
    uint16_t bonus;        /* c * 4096 in the bonus c/sqrt(n), 0..32767 (just below 8); 0 explores by ties only */
    uint16_t seed;         /* of the controller's own random numbers; 0 is a seed too */
    uint16_t thresholds[15]; /* samples at which a ball of level 0..14 splits: 1.., not decreasing; above 8190 never */
} adamb_config;

typedef struct {
    uint32_t episodes;
    uint16_t units, units_used, units_peak, units_header; /* 8 bytes each; peak never decreases */
    uint16_t splits;   /* balls of steps that are split now; leaves = trees + (2^(d_s+d_a) - 1) * splits */
    uint16_t trees;    /* partitions: 1 when steps share, else the horizon */
    uint16_t finest;   /* the finest level that a ball can reach */
    uint16_t share;    /* ADAMB_SHARE_*; TESTING while the test runs */
    uint16_t bonus;    /* c * 4096 in force */
    /* Counters; they stop at 65535 and never decrease. */
    uint16_t refused;     /* splits refused because too few units were free */
    uint16_t no_room;     /* samples counted in the parent (at a root: nowhere) because no unit was free for a record */
    uint16_t reclaims;    /* leaves folded and nodes removed to free units */
    uint16_t saturations; /* times that counts were halved */
    uint16_t restarts;    /* times that learning was reinitialised after a change */
} adamb_statistics;

/* The default controller for these dimensions: tracking mode, everything that tunes itself switched on, seed 1. A value
 * outside its limit is refused by init, not here. Before: config is not null. Work: as adamb_thresholds. Touches
 * config only. */
void adamb_config_default(adamb_config *config, uint8_t d_s, uint8_t d_a, uint8_t horizon);

/* Fill in config->thresholds with ceil(phi * 2^(gamma * level)), phi = phi_num / phi_den; more than 8190 becomes
 * "never", and so does gamma * level of 14 or more, which is the same for phi of a half or more. phi_num or phi_den 0
 * gives thresholds that init refuses. Before: gamma 1..14. Work: 15 divisions. Touches config only. */
void adamb_thresholds(adamb_config *config, uint8_t gamma, uint16_t phi_num, uint16_t phi_den);

/* The smallest block that adamb_init accepts, in words. Errors: BAD_ARGUMENT, BAD_CONFIG. Work: constant. */
int32_t adamb_required_words(const adamb_config *config);

/* Make a controller of the block. Words beyond 131,068 (256 KiB) and a rest of less than four are left unused.
 * Errors: BAD_ARGUMENT (null, or config overlaps the block), BAD_CONFIG, NO_MEMORY. Work: O(words). Touches the whole block. */
int adamb_init(const adamb_config *config, uint16_t *block, uint32_t words);

/* Choose an action for the state: d_s coordinates in, d_a coordinates out. In some episodes it is the same in all steps
 * (SPEC.md, 1.17). Errors: BAD_ARGUMENT, BAD_BLOCK. Work: O(d_s * L), one walk of the value tree. Touches two words of the
 * step. */
int adamb_act(uint16_t *block, int h, const uint16_t *state, uint16_t *action);

/* In the place of act: an action that somebody else has chosen, as a loop that runs the plant today or a manual mode; what
 * follows is observed as usual. Its episode is not judged, and at the states that it met the controller then begins with
 * such actions (SPEC.md, 1.21). Errors: BAD_ARGUMENT, BAD_BLOCK. Work: constant. Touches two words of the step, and one of
 * the header. */
int adamb_given(uint16_t *block, int h, const uint16_t *state, const uint16_t *action);

/* Learn from what followed the last act or given of step h. Errors: BAD_ARGUMENT, BAD_BLOCK, BAD_ORDER.
 * Work: O(d_s * L * R), at most 3 scans of the relevant balls (2 with one state and one action; paper mode:
 * one for every state cell under the ball, and one to reclaim). Touches the header, the step, and the units on the way. */
int adamb_observe(uint16_t *block, int h, uint16_t reward, const uint16_t *next_state);

/* Close the episode: change detection, end of the sharing test, perhaps a restart; learns from an episode that played one
 * action in all steps. Errors: BAD_ARGUMENT, BAD_BLOCK. Work: constant, or O(L * R) with R over actions alone; a restart
 * O(horizon). Touches the header, the step after the last one, and units on the way; a restart all steps. */
int adamb_end_episode(uint16_t *block);

/* Read the counters. Errors: BAD_ARGUMENT, BAD_BLOCK. Work: constant. Changes nothing. */
int adamb_stats(const uint16_t *block, adamb_statistics *stats);

/* Walk everything: every unit is in use once or free once, every link and level in range, every mean right.
 * Errors: BAD_ARGUMENT; BAD_BLOCK for a block of another version or a damaged one, whatever its words are.
 * Work: O(units), ends for any content. Changes nothing. */
int adamb_check(const uint16_t *block, uint32_t words);
/* cffi end */

#ifndef ADAMB_NO_ERROR_TEXT
/* cffi begin */
/* The meaning of a code in a few words, in constant memory: never null, for any number. Define ADAMB_NO_ERROR_TEXT to
 * leave it out of a build; a linker that drops unused functions leaves it out by itself. Work: constant. */
const char *adamb_error_text(int code);
/* cffi end */
#endif

#ifdef __cplusplus
}
#endif

#endif
