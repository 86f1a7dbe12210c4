/* AdaMB guard: finds damaged memory while the controller runs, and restores the last good save.
 *
 * `adamb_scrub` is the check in slices: every call looks at one path of one tree, so it can run in every control period.
 * `adamb_guard` calls it and handles damage: it restores the newest save of a store or, without one, reinitialises the
 * block. Its counters are outside the block, where a restore cannot undo them.
 *
 *     enum { D_S = 1, D_A = 1, HORIZON = 5, WORDS = 2048 };
 *     static uint16_t block[WORDS];
 *     static adamb_config config;
 *     static adamb_guard guard;
 *     adamb_config_default(&config, D_S, D_A, HORIZON);
 *     drive(safe_output);
 *     if (adamb_guard_open(&guard, &config, block, WORDS, store) < 0) { stop(); } // restores or initialises; store may be 0
 *     for (;;) {
 *         for (int h = 0; h < HORIZON; h++) {
 *             uint16_t state[D_S], action[D_A];
 *             feed_watchdog();                                      // every call below returns, damaged or not
 *             int inside = read_sensors(state);                     // 0: a reading was out of range
 *             int code = inside ? adamb_guard_handle(&guard, adamb_act(block, h, state, action)) : 0;
 *             if (code < 0) { stop(); }                             // the safe output, and no watchdog is fed
 *             drive(inside && code == 0 ? action : safe_output);
 *             wait();
 *             if (code > 0) break;                                  // replaced: start another episode
 *             if (!read_sensors(state) || !inside) { drive(safe_output); continue; } // not learnt from
 *             if (adamb_guard_handle(&guard, adamb_observe(block, h, reward_of(state), state)) < 0) { stop(); }
 *             adamb_guard_tick(&guard);                             // one slice
 *         }
 *         adamb_guard_handle(&guard, adamb_end_episode(block));
 *         if (once_in_a_while()) adamb_guard_save(&guard);
 *     }
 *
 * One caller at a time, as for the block. None is meant for interrupt handlers. */
#ifndef ADAMB_GUARD_H
#define ADAMB_GUARD_H
#include <stdint.h>

#include "adamb.h"
#include "adamb_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cffi begin */
/* Position of the next slice; all 0 is the beginning. An invalid position counts as the beginning. */
typedef struct {
    uint32_t path; /* the branches to take, the first one in bit 27 */
    uint8_t h;     /* step of the tree */
    uint8_t part;  /* 0: its values. 1: its partition */
} adamb_place;

/* Check the header, the next units of the free list, and one path: links, levels, means, counts, action codes. Learning
 * between two calls does not disturb a pass: a path is given by its branches. Not detected: a unit that two links share
 * or that none leads to, and a wrong number of splits; adamb_check, and with it every save, detects those.
 * Result: 0, or 1 when this was the last path of a pass; a pass has as many calls as there are cells of V and balls,
 * at most 4 * units_used + 2 * horizon. Errors: BAD_ARGUMENT, BAD_BLOCK (damage).
 * Work: O(horizon + (d_s + d_a) * L), in the paper's mode and the chains of the records on the path. Changes nothing but
 * the place. */
int adamb_scrub(const uint16_t *block, uint32_t words, adamb_place *place);

enum { ADAMB_GUARD_RESTORED = 1, ADAMB_GUARD_REINITIALISED = 2 };

typedef struct {
    uint16_t *block;
    uint32_t words;
    const adamb_config *config; /* to reinitialise with; a save of other dimensions is not restored */
    adamb_store *store;         /* 0 without one */
    adamb_place place;
    /* Counters; they stop at 65535. */
    uint16_t damages;       /* times that damage was found */
    uint16_t restored;      /* of these: the newest save was restored */
    uint16_t reinitialised; /* of these: the block was reinitialised */
    uint16_t passes;        /* of adamb_scrub, completed */
} adamb_guard;

/* Restore the newest save of the configuration's dimensions and horizon, or initialise; no action is pending then.
 * Everything pointed to belongs to the guard from now on. Result: RESTORED or REINITIALISED. Errors: BAD_ARGUMENT; those
 * of adamb_init, after which every call refuses the block. Work: as adamb_store_restore and adamb_init. */
int adamb_guard_open(adamb_guard *guard, const adamb_config *config, uint16_t *block, uint32_t words, adamb_store *store);

/* Handle the result of any call on the block. On damage (BAD_BLOCK) it does as open does, pending actions are lost, and
 * the result is RESTORED or REINITIALISED. Every other code is returned as it is. */
int adamb_guard_handle(adamb_guard *guard, int code);

/* One slice of the scrub. Result: 0, or as adamb_guard_handle when it found damage. Work: as adamb_scrub. */
int adamb_guard_tick(adamb_guard *guard);

/* Save to the store. A block that fails adamb_check is not saved but replaced, as in adamb_guard_handle.
 * Result: 0, RESTORED, REINITIALISED. Errors: EMPTY (no store), those of adamb_store_save but BAD_BLOCK. */
int adamb_guard_save(adamb_guard *guard);
/* cffi end */

#ifdef __cplusplus
}
#endif

#endif
