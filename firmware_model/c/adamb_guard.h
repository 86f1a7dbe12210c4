/* AdaMB guard: finds damaged memory while the controller works, and starts again from the last good save.
 *
 * `adamb_scrub` is the check in slices: every call looks at one path of one tree, so it can run in every control period.
 * `adamb_guard` does that and what follows from it: on damage the block becomes that of the newest save in a store or,
 * without one, a clean start. It counts what it did outside the block, where a restored block cannot undo the counts.
 *
 *     adamb_guard guard;
 *     adamb_guard_open(&guard, &config, block, 2048, &store);       // restores or starts; store may be 0
 *     for (;;) {
 *         for (int h = 0; h < 5; h++) {
 *             if (adamb_guard_mind(&guard, adamb_act(block, h, &state, &action)) > 0) break;   // another episode begins
 *             ...
 *             adamb_guard_mind(&guard, adamb_observe(block, h, reward, &next));
 *             adamb_guard_tick(&guard);                             // one slice
 *             feed_watchdog();                                      // every call above comes back, damaged or not
 *         }
 *         adamb_guard_mind(&guard, adamb_end_episode(block));
 *         if (once_in_a_while) adamb_guard_save(&guard);
 *     }
 *
 * One caller at a time, as for the block. None is meant for interrupt handlers. */
#ifndef ADAMB_GUARD_H
#define ADAMB_GUARD_H
#include <stdint.h>

#include "adamb.h"
#include "adamb_store.h"

/* cffi begin */
/* Where the next slice is; all 0 is the beginning. A place that makes no sense is one, too. */
typedef struct {
    uint32_t path; /* the branches to take, the first one in bit 27 */
    uint8_t h;     /* step of the tree */
    uint8_t part;  /* 0: its values. 1: its partition */
} adamb_place;

/* Look at the header, the next units of the free list, and one path: links, levels, means, counts, action codes. What
 * is learnt between two calls does no harm: a path is found again by its branches. Not seen: a unit that two links share
 * or that none leads to, and the number of splits; adamb_check and with it every save see those.
 * Result: 0, or 1 when this was the last path of a pass; a pass has as many calls as there are cells of V and balls,
 * at most 4 * units_used + 2 * horizon. Errors: BAD_ARGUMENT, BAD_BLOCK (damage).
 * Work: O(horizon + (d_s + d_a) * L), in the paper's mode and the chains of the records on the path. Changes nothing but
 * the place. */
int adamb_scrub(const uint16_t *block, uint32_t words, adamb_place *place);

enum { ADAMB_GUARD_RESTORED = 1, ADAMB_GUARD_ANEW = 2 };

typedef struct {
    uint16_t *block;
    uint32_t words;
    const adamb_config *config; /* of a clean start; a save of other dimensions is not restored */
    adamb_store *store;         /* 0 without one */
    adamb_place place;
    /* Counters; they stop at 65535. */
    uint16_t damages;  /* times that damage was found */
    uint16_t restored; /* answered by the newest save */
    uint16_t anew;     /* answered by a clean start */
    uint16_t passes;   /* of adamb_scrub, completed */
} adamb_guard;

/* Restore the newest save, or start anew. Everything pointed to belongs to the guard from now on.
 * Result: RESTORED or ANEW. Errors: BAD_ARGUMENT; those of adamb_init. Work: as adamb_store_restore and adamb_init. */
int adamb_guard_open(adamb_guard *guard, const adamb_config *config, uint16_t *block, uint32_t words, adamb_store *store);

/* Hand over what any call on the block returned. Damage (BAD_BLOCK) is answered as in open: RESTORED or ANEW comes back
 * and pending actions are forgotten. Everything else comes back as it is. */
int adamb_guard_mind(adamb_guard *guard, int code);

/* One slice of the scrub. Result: 0, or as adamb_guard_mind when it found damage. Work: as adamb_scrub. */
int adamb_guard_tick(adamb_guard *guard);

/* Save to the store. A block that fails adamb_check is not saved but replaced, as in adamb_guard_mind.
 * Result: 0, RESTORED, ANEW. Errors: EMPTY (no store), those of adamb_store_save but BAD_BLOCK. */
int adamb_guard_save(adamb_guard *guard);
/* cffi end */

#endif
