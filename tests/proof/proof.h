/* What the proofs share: any value, a block of any content, the sealed words, and cut points of loops.
 *
 * A harness is read by CBMC, not compiled: a variable that was never set has any value, ASSUME leaves out what does not
 * hold, CHECK must hold for all that is left. The tool itself checks every access, overflow, shift and division.
 *
 * A loop is cut where it is too long to be unrolled. The driver puts CUT_<function>_<number> at the head of the body
 * of that loop, in a copy of the core, for every such macro that a harness defines. The first time round, the
 * invariant is checked and everything the loop changes is replaced by any value that satisfies it; the second time
 * it is checked again, together with a measure that must have become smaller. So one round stands for all of them,
 * and the loop ends because a measure is not negative. BEFORE_<function> names a file to include in front of it.
 *
 * CALL_<function> names a contract: in the files that a harness includes after it, every call of the function becomes
 * one of the contract, which checks what must hold before the call and allows all that may be after it. */
#ifndef PROOF_H
#define PROOF_H
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include <stdlib.h>

#define ASSUME(condition) __CPROVER_assume(condition)
/* With PROOF_REACHED nothing is checked but that a proof's end can be reached: else its assumptions contradict. */
#ifdef PROOF_REACHED
#define CHECK(condition) ((void)0)
#define REACHED __CPROVER_assert(0, "reached")
#else
#define CHECK(condition) __CPROVER_assert((condition), #condition)
#define REACHED ((void)0)
#endif

#define ANY(name, type)    \
    static type name(void) \
    {                      \
        type value;        \
        return value;      \
    }
ANY(any8, uint8_t)
ANY(any16, uint16_t)
ANY(any32, uint32_t)
ANY(any_int, int)

/* The driver declares cut_N and cut_measure_N in front of the N-th loop of a function. */
#define CUT_AT(n, invariant, change, measure)  \
    {                                          \
        int checking = 1;                      \
        invariant                              \
        if (cut_##n) {                         \
            cut_##n = 0;                       \
            change;                            \
            checking = 0;                      \
            invariant                          \
            cut_measure_##n = (measure);       \
        } else {                               \
            CHECK((measure) < cut_measure_##n); \
            ASSUME(0);                         \
        }                                      \
    }
#define HOLDS(condition)   \
    if (checking) {        \
        CHECK(condition);  \
    }                      \
    ASSUME(condition);

/* What the seal stands for: the four sealed words are those of an init, or of a block that adamb_check accepted. Both
 * are proved in header.c. A pool may be empty: this is less than init asks for. */
static int sealed(const uint16_t *w, uint32_t words)
{
    uint32_t d_s = w[ADAMB_H_DIMS] & 15u, d_a = w[ADAMB_H_DIMS] >> 4 & 15u, horizon = w[ADAMB_H_DIMS] >> 8;
    uint32_t finest = w[ADAMB_H_SCALE] >> 8, fraction = w[ADAMB_H_SCALE] & 255u;
    uint32_t pool = w[ADAMB_H_POOL_AT], units = w[ADAMB_H_UNITS];
    return d_s >= 1 && d_s <= ADAMB_DIM_MAX && d_a >= 1 && d_a <= ADAMB_DIM_MAX && horizon >= 1 &&
           horizon <= ADAMB_HORIZON_MAX && finest * d_s <= ADAMB_LEVEL_MAX && (finest + 1) * d_a <= 16 &&
           fraction == (horizon <= 7 ? 12 : horizon <= 15 ? 11 : 10) &&
           pool == (ADAMB_H_WORDS + finest + 1 + (horizon + 1) * ADAMB_S_WORDS + 3) >> 2 && pool <= units &&
           units <= ADAMB_UNITS_MAX && 4 * units <= words;
}

/* A block of any content. */
static uint16_t *any_block(uint32_t words)
{
    uint16_t *block = malloc(words * sizeof *block);
    ASSUME(block != 0);
    return block;
}

/* A block of any content behind a seal. */
static uint16_t *sealed_block(void)
{
    uint32_t words = any32();
    ASSUME(words >= ADAMB_H_WORDS);
    uint16_t *block = any_block(words);
    ASSUME(sealed(block, words));
#ifdef PROOF_DIMS /* with 0 state dimensions a proof is about the held step, whatever d_s the steps have */
    ASSUME((PROOF_DIMS & 15) == 0 || (block[ADAMB_H_DIMS] & 15) == (PROOF_DIMS & 15));
    ASSUME((block[ADAMB_H_DIMS] >> 4 & 15) == PROOF_DIMS >> 4);
#endif
    return block;
}

/* The sealed words as they were, and the flags: no seal covers these, but no call writes them either. */
typedef struct {
    uint16_t magic, hash, units, dims, scale, pool_at, flags;
} proof_seal;

static proof_seal seal_of(const uint16_t *w)
{
    return (proof_seal){w[ADAMB_H_MAGIC], w[ADAMB_H_HASH],  w[ADAMB_H_UNITS],
                        w[ADAMB_H_DIMS],  w[ADAMB_H_SCALE], w[ADAMB_H_POOL_AT], w[ADAMB_H_FLAGS]};
}

static int seal_kept(const uint16_t *w, proof_seal was)
{
    return w[ADAMB_H_MAGIC] == was.magic && w[ADAMB_H_HASH] == was.hash && w[ADAMB_H_UNITS] == was.units &&
           w[ADAMB_H_DIMS] == was.dims && w[ADAMB_H_SCALE] == was.scale && w[ADAMB_H_POOL_AT] == was.pool_at &&
           w[ADAMB_H_FLAGS] == was.flags;
}

/* Any content, but for the seal and the flags. */
static void change_block(uint16_t *w)
{
    proof_seal was = seal_of(w);
    __CPROVER_havoc_object(w);
    ASSUME(seal_kept(w, was));
}

/* A proof about calls on a block of any content: whatever they do, they keep the seal and the flags. */
#define KEEPS_SEAL(entry)                         \
    static void entry##_with(uint16_t *block);    \
    void prove_##entry(void)                      \
    {                                             \
        uint16_t *block = sealed_block();         \
        proof_seal before = seal_of(block);       \
        entry##_with(block);                      \
        CHECK(seal_kept(block, before));          \
        REACHED;                                  \
    }                                             \
    static void entry##_with(uint16_t *block)

/* A call of any step, the held one too, as decode makes it. */
static adamb_call any_call(uint16_t *block)
{
    adamb_call c;
    uint8_t h = any8();
    ASSUME(h <= block[ADAMB_H_DIMS] >> 8);
    adamb_call_decode(&c, block, h);
#ifdef PROOF_DIMS /* the same again, in a form that the tool can compute with before it solves */
    enum { D_S = PROOF_DIMS & 15, D_A = PROOF_DIMS >> 4 };
    static const uint16_t division[4][3] = {
        {0x4, 0x8, 0x48}, {0x5, 0x45, 0x85}, {0x42, 0x82, 0x482}, {0x52, 0x452, 0x852}};
    ASSUME(c.held == (D_S == 0));
    CHECK(c.d_s == D_S && c.d_a == D_A && c.chunks == (D_S + D_A + 1) / 2 && c.bits == division[D_S][D_A - 1]);
    c.d_s = D_S, c.d_a = D_A, c.chunks = (D_S + D_A + 1) / 2, c.bits = division[D_S][D_A - 1], c.held = D_S == 0;
#endif
    return c;
}

/* A call of a step of an episode: one that is not the held one. */
static adamb_call any_step_call(uint16_t *block)
{
    adamb_call c = any_call(block);
    ASSUME(!c.held);
    return c;
}

/* A word that may stand where a slot stands: two words on is inside the block as well; writing breaks no seal. */
static int slot_ok(const adamb_call *c, uint32_t slot)
{
    return slot >= ADAMB_H_WORDS && slot < unit_base(c->w[ADAMB_H_UNITS]) - 2;
}

/* A word that may be written to: behind the sealed words, inside the block. */
static int word_ok(const adamb_call *c, uint32_t word)
{
    return word >= ADAMB_H_WORDS && word < unit_base(c->w[ADAMB_H_UNITS]);
}

/* A call as decode made it, of a block whose word `share` may have changed since. */
static int call_ok(const adamb_call *c)
{
    adamb_call d;
    if (c->h > c->w[ADAMB_H_DIMS] >> 8) {
        return 0;
    }
    adamb_call_decode(&d, c->w, c->h);
    return c->horizon == d.horizon && c->d_s == d.d_s && c->d_a == d.d_a && c->chunks == d.chunks && c->bits == d.bits &&
           c->fraction == d.fraction && c->finest == d.finest && c->first == d.first && c->links == d.links &&
           c->held == d.held && c->paper == d.paper && c->wide == d.wide && c->step == d.step &&
           (!c->held || !c->shared) &&
           c->tree == (c->shared ? adamb_call_step(c->w, 0) : c->step);
}

/* What a descent leaves: a ball with a record, or without one below a parent. */
static int ball_ok(const adamb_call *c, const adamb_visit *v)
{
    return v->level <= c->finest && word_ok(c, v->slot) && (v->rec == 0 || is_link(c, v->rec)) &&
           (v->parent == 0 ? v->level == 0 : is_link(c, v->parent) && v->level != 0);
}

/* Where the next value lies, which tracking looks at; the paper's mode leaves it as it was. */
static int next_ok(const adamb_call *c, const adamb_visit *v)
{
    return c->paper || v->next_slot == 0 || v->next_slot < unit_base(c->w[ADAMB_H_UNITS]) - 2;
}

/* What a scan leaves: see scan.c. */
static int choice_ok(const adamb_call *c, const adamb_choice *best)
{
    return best->level <= c->finest && best->q <= ADAMB_VALUE_MAX;
}

static adamb_choice any_choice(const adamb_call *c)
{
    adamb_choice best;
    ASSUME(choice_ok(c, &best));
    return best;
}
#endif
