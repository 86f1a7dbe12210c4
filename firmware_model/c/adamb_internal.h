/* Shared by the files of the core, not by its users. Word layout: SPEC 3. */
#ifndef ADAMB_INTERNAL_H
#define ADAMB_INTERNAL_H
#include "adamb.h"
#include "adamb_spec.h"

/* Work counter of the measuring builds (one call per unit of work); nothing on a device. */
#ifndef ADAMB_WORK
#define ADAMB_WORK() ((void)0)
#endif

/* APART: a function kept apart from its caller, so that what is done seldom takes no registers from what is done often.
 * IN_ORDER: stores before it come before those behind it, for an `act` that interrupts (SPEC 15). */
#ifdef __GNUC__
#define ADAMB_NOINLINE __attribute__((noinline))
#define ADAMB_COMPILER_BARRIER() __asm__ __volatile__("" : : : "memory")
#else
#define ADAMB_NOINLINE
#define ADAMB_COMPILER_BARRIER() ((void)0) /* a compiler that moves stores needs its own barrier here */
#endif

/* What one public call needs to know, decoded once from the block. All three live on the stack of the call.
 * Bytes first, then half words: what is near takes one instruction to read. */
typedef struct {
    uint8_t h, horizon, d_s, d_a, chunks, fraction, finest, shared;
    uint8_t paper, wide;   /* the mode; tracking with more than 1+1 dimensions */
    uint8_t held;          /* the step that stands for a whole held episode: without a state, and the last one */
    uint8_t taught;        /* tracking, centres played, in an episode with actions of somebody else */
    uint16_t bits;         /* how the bits of a level are divided into blocks */
    uint16_t *w;
    uint32_t first, links; /* first unit of the pool, and how many follow it: where links may lead */
    uint32_t step;         /* first word of the step's words */
    uint32_t tree;         /* first word of the step that owns the tree: the first when steps share one */
} adamb_call;

/* A sample, the visit of the descent to its ball, and what the estimate of the ball is made of. */
typedef struct {
    uint8_t level;                        /* of the ball */
    uint16_t state, action, reward, next; /* the sample, as codes */
    uint16_t rec;                         /* record of the ball, 0 when there was no room for one */
    uint16_t parent;                      /* record above it, 0 at the root */
    uint32_t slot;                        /* the slot that holds the ball */
    uint32_t next_slot;                   /* slot of V of the next state, 0 behind the last step */
    uint32_t weight;                      /* weight of the samples for the ball, in quarter samples */
    uint32_t value;                       /* its estimate of reward + next value */
    uint32_t expected;                    /* next value by the record looked at last */
    uint32_t inherited_n;                 /* paper: samples of the ancestors */
} adamb_visit;

/* The choice of a scan among the relevant balls. */
typedef struct {
    uint16_t q;      /* the highest Q, */
    uint16_t action; /* the action of its ball, */
    uint8_t level;   /* and the finest level among all of them */
} adamb_choice;

/* What a scan knows of the balls it has met. */
typedef struct {
    uint32_t rec;                /* the record above the next ball, 0 for the root */
    uint32_t part;               /* 256ths of what follows an action */
    int32_t best, q;             /* the highest key, -1 without a ball; its Q, shifted like a surplus */
    uint32_t where;              /* its action code | level << 25 | bits without a meaning */
    uint32_t inherited, of;      /* what the record `of` expects */
    int32_t n, balls;            /* visited balls: their samples, a few of each, and how many they are */
    int32_t first, sum, squares; /* the first expectation, and the others less this one */
} adamb_ranking;

/* Word index of unit u. */
static inline uint32_t unit_base(uint32_t u)
{
    return u << 2;
}

static inline int is_value(uint16_t word)
{
    return (word & ADAMB_TAG) != 0;
}

/* What `act` and `observe` take for a link is checked wherever it is followed, because a flipped bit could lead it
 * out of the block: an invalid one stands for an unvisited ball or an undivided cell. Walks that only read
 * may pass through the header; what is written to lies in the pool. */
static inline int is_link(const adamb_call *c, uint32_t word)
{
    return word - c->first < c->links;
}

/* First block below a record, 0 for a leaf. */
static inline uint16_t adamb_tree_children(const adamb_call *c, uint16_t rec)
{
    uint16_t link = c->w[unit_base(rec)];
    return is_link(c, link) ? link : 0;
}

static inline int has_flag(const uint16_t *w, uint16_t flag)
{
    return (w[ADAMB_H_FLAGS] & flag) != 0;
}

static inline uint16_t own_n(const uint16_t *w, uint16_t rec)
{
    return (uint16_t)(w[unit_base(rec) + ADAMB_R_N] & ADAMB_N_MAX);
}

static inline uint16_t min16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

/* Saturating increment of a counter word. */
static inline void saturating_inc(uint16_t *w, uint32_t index)
{
    uint32_t n = (uint32_t)w[index] + 1u;
    w[index] = (uint16_t)(n - (n >> 16));
}

/* A weight, or a sum of them, below 2^24 by what adamb_number_shift says. */
static inline uint32_t shifted(uint32_t x, int shift)
{
    return x << 8 >> (8 - shift);
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

/* Word index of the cell of V that a code lies in; values are above all links. Two bits a round: `act` has to be
 * fast, and counting rounds takes time. */
static inline uint32_t adamb_value_cell(const uint16_t *w, uint32_t step, uint32_t code)
{
    uint32_t i = step + ADAMB_S_V_SLOT, units = w[ADAMB_H_UNITS], word = w[i], rest = code << 16;
    for (uint32_t rounds = 8; rounds != 0 && word < units; rounds--) {
        ADAMB_WORK();
        i = unit_base(word) + (rest >> 31);
        rest <<= 1;
        word = w[i];
        if (word >= units) {
            break;
        }
        ADAMB_WORK();
        i = unit_base(word) + (rest >> 31);
        rest <<= 1;
        word = w[i];
    }
    return i;
}

/* number */
uint16_t adamb_number_random(uint16_t *w);
int adamb_number_shift(uint32_t total);
uint32_t adamb_number_mean(uint32_t sum, uint32_t total);
uint32_t adamb_number_bonus(uint32_t factor, uint32_t weight);
uint32_t adamb_number_divide(uint32_t number, uint32_t by);
uint16_t adamb_number_dithered_mean(uint32_t mean, uint32_t value, uint32_t n, uint32_t salt);
uint16_t adamb_number_moving_average(uint32_t mean, uint32_t value, uint32_t shift, uint32_t salt);
uint32_t adamb_number_blend(uint32_t from, uint32_t to, uint32_t part, uint32_t whole);
uint16_t adamb_number_initial(const adamb_call *c, uint8_t h);
uint16_t adamb_code_pack(const uint16_t *coordinates, uint8_t dims);
void adamb_code_unpack(uint16_t code, uint8_t dims, uint16_t *coordinates);
uint16_t adamb_code_centre(uint32_t code, uint32_t bits, uint32_t d_a);
uint32_t adamb_code_path(const adamb_call *c, uint32_t state, uint32_t action);
int adamb_code_inside(uint32_t fine, uint32_t centre, uint32_t d_a);
uint16_t adamb_code_division(uint32_t d_s, uint32_t d_a);

/* value */
uint32_t adamb_value_find(const uint16_t *w, uint32_t step, uint32_t code);
uint32_t adamb_value_mean(const uint16_t *w, uint32_t node);
uint8_t adamb_value_set(const adamb_call *c, uint16_t code, const adamb_choice *best);
int adamb_value_holds(const adamb_call *c, uint16_t code, const adamb_choice *ball);
void adamb_value_refresh_means(const adamb_call *c, const uint16_t *nodes, uint32_t depth, uint32_t code, uint32_t value);
void adamb_counts_add(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t cell, uint16_t n);
void adamb_counts_fold(const adamb_call *c, uint16_t from, uint16_t to, uint8_t level);
void adamb_counts_free(const adamb_call *c, uint16_t rec);
uint32_t adamb_counts_expect(const adamb_call *c, uint32_t rec, uint32_t level);

/* tree */
uint32_t adamb_tree_root(const adamb_call *c);
uint16_t adamb_tree_clip(const adamb_call *c, int32_t q);
uint16_t adamb_tree_q(const adamb_call *c, uint16_t surplus, uint16_t rec, uint8_t level);
uint16_t adamb_tree_surplus(int32_t surplus);
void adamb_tree_free(const adamb_call *c, uint16_t rec);
int adamb_tree_split(const adamb_call *c, uint16_t rec);
void adamb_tree_unsplit(const adamb_call *c, uint16_t rec, uint8_t level, uint16_t best);
void adamb_tree_descend(const adamb_call *c, adamb_visit *v, uint32_t path);
void adamb_rank_start(const adamb_call *c, adamb_ranking *r);
void adamb_rank_ball(const adamb_call *c, adamb_ranking *r, uint32_t word, uint32_t where);
void adamb_tree_scan(const adamb_call *c, uint16_t state_code, adamb_choice *best);

/* learn */
int adamb_learn_sample(const adamb_call *c, adamb_visit *v);
void adamb_learn_follow(const adamb_call *c, const adamb_visit *v, uint32_t finer);
void adamb_learn_jobs(const adamb_call *c);
int adamb_refresh_next(adamb_call *c, uint16_t code);

/* adapt */
uint32_t adamb_adapt_factor(const adamb_call *c);
uint32_t adamb_adapt_bonus(const adamb_call *c, uint32_t level, uint32_t weight);
void adamb_adapt_noise(const adamb_call *c, uint32_t far);
void adamb_adapt_spread(const adamb_call *c, uint32_t far);
void adamb_adapt_rewards(const adamb_call *c, uint16_t reward);
int adamb_adapt_step(const adamb_call *c, const adamb_visit *v, const uint16_t *next);
void adamb_adapt_restart(uint16_t *w);
uint32_t adamb_adapt_earned(const uint16_t *w);
void adamb_adapt_episode(uint16_t *w, uint32_t value);

/* check: whether words are valid by themselves */
int adamb_words_header(adamb_call *c, const uint16_t *w, uint32_t words);
int adamb_words_record(const adamb_call *c, uint32_t rec, uint32_t level);
int adamb_words_counts(const adamb_call *c, uint32_t unit, uint32_t level);
int adamb_words_cell(const adamb_call *c, uint32_t slot);

/* config: the first word of a step */
static inline uint32_t adamb_call_step(const uint16_t *w, uint32_t h)
{
    return ADAMB_H_WORDS + 1u + ((uint32_t)w[ADAMB_H_SCALE] >> 8) + h * ADAMB_S_WORDS;
}

void adamb_call_decode(adamb_call *c, uint16_t *w, uint8_t h);
uint16_t adamb_pool_alloc(uint16_t *w);
void adamb_pool_free(uint16_t *w, uint16_t unit);
uint16_t adamb_pool_room(const uint16_t *w);

/* Mix of the words that all memory safety rests on. Stored with the hash, it tells when a bit of them has flipped. */
static inline uint32_t adamb_config_seal(const uint16_t *w)
{
    uint32_t mix = ((uint32_t)w[ADAMB_H_UNITS] * 11u + w[ADAMB_H_DIMS]) * 11u + w[ADAMB_H_SCALE];
    mix = (mix * 11u + w[ADAMB_H_POOL_AT]) * 11u;
    return (mix ^ mix >> 13) & 0xFFFFu;
}

/* A block of this version, and one whose sealed words are those that `init` wrote. In place: every call asks. */
static inline int adamb_config_usable(const uint16_t *w)
{
    return w[ADAMB_H_MAGIC] == ADAMB_MAGIC && w[ADAMB_H_HASH] == (ADAMB_SPEC_HASH ^ adamb_config_seal(w));
}

/* Dimensions and horizon as the header holds them: how long the caller's arrays are. 0, which no header has, for more
 * dimensions than its fields have room for. */
static inline uint32_t adamb_config_dims(const adamb_config *config)
{
    return (config->d_s | config->d_a) > 15 ? 0 : config->d_s | (uint32_t)config->d_a << 4 | (uint32_t)config->horizon << 8;
}

/* Whether a block and other memory of the caller share a byte. */
static inline int adamb_config_overlaps(const uint16_t *block, uint32_t words, const uint8_t *other, uint32_t bytes)
{
    return (uintptr_t)other + bytes - 1 - (uintptr_t)block < 2 * (uintptr_t)words + bytes - 1; /* modulo all addresses */
}

uint8_t adamb_config_fraction_bits(uint8_t horizon);
void adamb_config_write_header(const adamb_config *config, uint16_t *block, uint32_t words);

/* snapshot: the parts, for code that moves a snapshot in pieces; adamb_store.c does. */
/* Take a byte into a CRC-32 (the polynomial of zlib), which starts and ends inverted: 0xFFFFFFFF, then ~crc. */
uint32_t adamb_snapshot_crc(uint32_t crc, uint8_t byte);

/* The head of a snapshot of the block. Result: as adamb_snapshot_bytes; also refuses what fails adamb_check. */
int32_t adamb_snapshot_head(const uint16_t *block, uint8_t *head);

/* Byte `index` of the snapshot whose head this is. */
uint8_t adamb_snapshot_byte(const uint16_t *block, const uint8_t *head, uint32_t index);

/* 0 when a head is one of this version and of a snapshot of this length; else BAD_BLOCK. */
int adamb_snapshot_head_check(const uint8_t *head, uint32_t length);

/* Byte `index` >= the head's, into the block. Low bytes first. */
void adamb_snapshot_put(uint16_t *block, uint32_t index, uint8_t byte);

/* After the last put: clear the rest, check all, dimensions and horizon too; on an error the whole block becomes 0. */
int adamb_snapshot_finish(const uint8_t *head, uint32_t dims, uint16_t *block, uint32_t words);

/* Little-endian fields. */
uint16_t adamb_snapshot_get16(const uint8_t *at);
uint32_t adamb_snapshot_get32(const uint8_t *at);
void adamb_snapshot_set16(uint8_t *at, uint32_t value);
void adamb_snapshot_set32(uint8_t *at, uint32_t value);

/* Where the fields of the head lie. */
enum {
    ADAMB_SNAPSHOT_AT_VERSION = 2,
    ADAMB_SNAPSHOT_AT_HASH = 4,
    ADAMB_SNAPSHOT_AT_UNITS = 6,
    ADAMB_SNAPSHOT_AT_WORDS = 8,
    ADAMB_SNAPSHOT_AT_CRC = 12
};

#endif
