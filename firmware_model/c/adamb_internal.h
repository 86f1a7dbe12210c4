/* Shared by the files of the core, not by its users. Word layout: SPEC.md. */
#ifndef ADAMB_INTERNAL_H
#define ADAMB_INTERNAL_H
#include "adamb.h"
#include "adamb_spec.h"

/* Work counter of the measuring builds (one call per unit of work); nothing on a device. */
#ifndef ADAMB_WORK
#define ADAMB_WORK() ((void)0)
#endif

/* What one public call needs to know, decoded once from the block. Lives on the stack of the call. */
typedef struct {
    /* Bytes first, then half words: what is near takes one instruction to read. */
    uint8_t h, horizon, d_s, d_a, chunks, fraction, finest, shared;
    uint8_t best_level; /* scan: finest level among the relevant balls */
    uint8_t level;      /* descent: level of the ball */
    uint16_t bits;      /* how the bits of a level are divided into blocks */
    uint16_t rec;       /* descent: record of the ball, 0 when there was no room for one */
    uint16_t parent;    /* descent: record above it, 0 at the root */
    uint16_t best_q;    /* scan: highest Q among the relevant balls */
    uint16_t best_action;
    uint16_t *w;
    uint32_t first, links; /* first unit of the pool, and how many follow it: where links may lead */
    uint32_t step;         /* first word of the step's words */
    uint32_t slot;         /* descent: the slot that holds the ball */
    uint32_t weight;       /* evidence for the ball, in quarter samples */
    uint32_t value;        /* its estimate of reward + next value */
    uint32_t expected;     /* next value by the record looked at last */
    uint32_t inherited_n;  /* descent: samples of the ancestors */
} adamb_call;

/* Word index of unit u. */
static inline uint32_t at(uint32_t u)
{
    return u << 2;
}

static inline int is_value(uint16_t word)
{
    return (word & ADAMB_TAG) != 0;
}

/* What `act` and `observe` take for a link is checked wherever it is followed, because a flipped bit could lead it
 * out of the block: one that leads nowhere stands for an unvisited ball or an undivided cell. Walks that only read
 * may pass through the header; what is written to lies in the pool. */
static inline int is_link(const adamb_call *c, uint32_t word)
{
    return word - c->first < c->links;
}

/* First block below a record, 0 for a leaf. */
static inline uint16_t adamb_tree_children(const adamb_call *c, uint16_t rec)
{
    uint16_t link = c->w[at(rec)];
    return is_link(c, link) ? link : 0;
}

static inline int has_flag(const uint16_t *w, uint16_t flag)
{
    return (w[ADAMB_H_FLAGS] & flag) != 0;
}

static inline uint16_t own_n(const uint16_t *w, uint16_t rec)
{
    return (uint16_t)(w[at(rec) + ADAMB_R_N] & ADAMB_N_MAX);
}

static inline uint16_t min16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

/* Saturating increment of a counter word. */
static inline void count_up(uint16_t *w, uint32_t index)
{
    if (w[index] != 0xFFFFu) {
        w[index]++;
    }
}

static inline uint32_t shifted(uint32_t x, int shift)
{
    return shift >= 0 ? x << shift : x >> -shift;
}

/* State and action bits that the chunk-th block of a level consumes. */
static inline uint32_t adamb_code_state_bits(const adamb_call *c, uint32_t chunk)
{
    return (uint32_t)c->bits >> (4 * chunk) & 3u;
}

static inline uint32_t adamb_code_action_bits(const adamb_call *c, uint32_t chunk)
{
    return (uint32_t)c->bits >> (4 * chunk + 2) & 3u;
}

/* pool */
uint16_t adamb_pool_alloc(uint16_t *w);
void adamb_pool_free(uint16_t *w, uint16_t unit);
uint16_t adamb_pool_room(const uint16_t *w);

/* number */
uint16_t adamb_number_random(uint16_t *w);
int adamb_number_shift(uint32_t total);
uint32_t adamb_number_mean(uint32_t sum, uint32_t total);
uint32_t adamb_number_bonus(uint32_t factor, uint32_t weight);
uint32_t adamb_number_divide(uint32_t number, uint32_t by);
uint16_t adamb_number_follow(uint32_t mean, uint32_t value, uint32_t n, uint32_t salt);
uint32_t adamb_number_blend(uint32_t from, uint32_t to, uint32_t part, uint32_t whole);
uint16_t adamb_number_initial(const adamb_call *c, uint8_t h);

/* code */
uint16_t adamb_code_pack(const uint16_t *coordinates, uint8_t dims);
void adamb_code_unpack(uint16_t code, uint8_t dims, uint16_t *coordinates);
uint16_t adamb_code_centre(uint32_t code, uint32_t bits, uint32_t d_a);

/* counts */
void adamb_counts_add(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t cell, uint16_t n);
void adamb_counts_fold(const adamb_call *c, uint16_t from, uint16_t to, uint8_t level);
void adamb_counts_free(const adamb_call *c, uint16_t rec);
uint32_t adamb_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level);

/* value */
uint32_t adamb_value_find(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits);
uint32_t adamb_value_at(const uint16_t *w, uint32_t step, uint32_t code, uint32_t bits);
uint32_t adamb_value_mean(const uint16_t *w, uint32_t node);
uint8_t adamb_value_set(const adamb_call *c, uint16_t code);
int adamb_value_holds(const adamb_call *c, uint16_t code, uint16_t action, uint16_t q);
int adamb_value_reclaim(adamb_call *c);

/* tree */
uint32_t adamb_tree_root(const adamb_call *c);
uint16_t adamb_tree_clip(const adamb_call *c, int32_t q);
uint16_t adamb_tree_q(const adamb_call *c, uint16_t surplus, uint16_t rec, uint8_t level);
uint16_t adamb_tree_surplus(int32_t surplus);
uint16_t adamb_tree_create(const adamb_call *c, uint32_t slot);
void adamb_tree_free(const adamb_call *c, uint16_t rec);
int adamb_tree_split(const adamb_call *c, uint16_t rec);
void adamb_tree_unsplit(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t best);
void adamb_tree_scan(adamb_call *c, uint16_t state_code);

/* learn */
void adamb_learn_sample(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, uint16_t next_code);
void adamb_learn_jobs(adamb_call *c);

/* reclaim */
void adamb_reclaim_tree(const adamb_call *c);

/* check */
int adamb_check_header(adamb_call *c, const uint16_t *w, uint32_t words);
int adamb_check_record(const adamb_call *c, uint32_t rec, uint32_t level);
int adamb_check_entry(const adamb_call *c, uint16_t word, uint32_t level);
int adamb_check_counts(const adamb_call *c, uint32_t unit, uint32_t level);
int adamb_check_cell(const adamb_call *c, uint32_t slot);

/* adapt */
void adamb_adapt_step(adamb_call *c, uint16_t state_code, uint16_t action_code, uint16_t reward, const uint16_t *next);
uint32_t adamb_adapt_factor(const adamb_call *c);
uint32_t adamb_adapt_bonus(const adamb_call *c, uint32_t weight);
void adamb_adapt_episode(uint16_t *w);

/* core */
/* First word of a step. */
static inline uint32_t adamb_core_step(const uint16_t *w, uint32_t h)
{
    return ADAMB_H_WORDS + 1u + ((uint32_t)w[ADAMB_H_SCALE] >> 8) + h * ADAMB_S_WORDS;
}

int adamb_core_usable(const uint16_t *w);
uint8_t adamb_core_fraction(uint8_t horizon);
void adamb_core_decode(adamb_call *c, uint16_t *w, uint8_t h);
void adamb_core_restart(uint16_t *w);

#endif
