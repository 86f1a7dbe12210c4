/* The page's own part of its WebAssembly: episodes of the C core with a world of host_sim/c/worlds, the optimum on a
 * grid, and a block read for a picture. Nothing here decides or learns; the core does.
 *
 * The page has one controller and one world, so all of it is static. What the page passes lies in memory of `reserve`. */
#include <stddef.h>
#include <stdint.h>

#include "adamb.h"
#include "adamb_batch.h"
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_snapshot.h"
#include "draws.h"
#include "play/play.h"
#include "worlds/ambulance.h"
#include "worlds/exogenous.h"
#include "worlds/oil.h"

#define EXPORT(name) __attribute__((export_name(#name)))

enum { WORDS_MOST = 16384, ARENA = 1 << 21, DIMENSIONS = 3, NUMBERS_MOST = 2 * ADAMB_HORIZON_MAX, BALLS_MOST = 8192 };

static __attribute__((aligned(16))) uint8_t arena[ARENA];
static uint32_t taken;

EXPORT(reserve) void *reserve(uint32_t bytes)
{
    uint32_t at = taken;
    taken += (bytes + 15) & ~15u;
    return taken <= ARENA ? arena + at : NULL;
}

EXPORT(release) void release(void)
{
    taken = 0;
}

/* ---- random draws: PCG64 as numpy has it, below the draws of host_sim ---- */

typedef struct {
    unsigned __int128 state, increment;
} pcg64;

typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} bit_generator;

static uint64_t next_bits(void *state)
{
    static const unsigned __int128 FACTOR = (unsigned __int128)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u;
    pcg64 *own = state;
    own->state = own->state * FACTOR + own->increment;
    uint64_t high = (uint64_t)(own->state >> 64), mixed = high ^ (uint64_t)own->state, turn = high >> 58;
    return mixed >> turn | mixed << (-turn & 63);
}

static double next_double(void *state)
{
    return (double)(next_bits(state) >> 11) * 0x1.0p-53;
}

/* ---- one controller in one world ---- */

/* The last step, and the ball that it split: its level and samples; level -1 is none. The page reads it. */
static struct {
    double state[DIMENSIONS], action[DIMENSIONS], next[DIMENSIONS], reward, sum, split_level, split_n;
} now;

static struct {
    play_problem problem;
    int32_t d_s, d_a, horizon, numbers, h;
    const draws_ziggurat *ziggurat;
    pcg64 *streams;      /* of starts and of noise */
    const double *beta;  /* shape of the noise; null where it is normal */
    const double *start; /* of every episode; null where each draws its own */
    double noise[NUMBERS_MOST];
} play;

static uint16_t block[WORDS_MOST];
static uint32_t words;
static adamb_config config;
static adamb_place place;

typedef void step_function(const void *world, const play_step *at);

/* The page asks for a world's step by its name. */
#define WORLD(step) EXPORT(step) step_function *the_##step(void) { return step; }
WORLD(oil_step)
WORLD(ambulance_step)
WORLD(dram_lite_step)
WORLD(dram_drain_step)
WORLD(dram_refresh_step)
WORLD(allocation_step)

EXPORT(open) void open_world(step_function *step, const void *world, int32_t d_s, int32_t d_a, int32_t horizon, int32_t numbers)
{
    play.problem = (play_problem){world, step};
    play.d_s = d_s;
    play.d_a = d_a;
    play.horizon = horizon;
    play.numbers = numbers;
}

EXPORT(draws) void set_draws(const draws_ziggurat *ziggurat, pcg64 *streams, const double *beta, const double *start)
{
    play.ziggurat = ziggurat;
    play.streams = streams;
    play.beta = beta;
    play.start = start;
}

/* The least bytes of a block. */
EXPORT(least) int32_t least(void)
{
    adamb_config_default(&config, (uint8_t)play.d_s, (uint8_t)play.d_a, (uint8_t)play.horizon);
    return 2 * adamb_required_words(&config);
}

EXPORT(begin) int begin(uint32_t bytes, uint32_t seed)
{
    least();
    config.seed = (uint16_t)seed;
    words = bytes / 8 * 4;
    play.h = 0;
    place = (adamb_place){0};
    return adamb_init(&config, block, words);
}

static void step_world(int h, const double *state, const double *action, const double *noise, double *reward, double *next)
{
    play_step at = {0, 1, 0, h, state, action, noise, reward, next};
    play.problem.step(play.problem.world, &at);
}

static void begin_episode(void)
{
    bit_generator bits = {&play.streams[1], next_bits, NULL, next_double, next_bits};
    int32_t n = play.horizon * play.numbers;
    for (int32_t k = 0; k < play.d_s; k++)
        now.state[k] = play.start != NULL ? play.start[k] : next_double(&play.streams[0]);
    if (play.beta != NULL)
        draws_beta(play.ziggurat, &bits, play.beta[0], play.beta[1], play.noise, n);
    else
        draws_normal(play.ziggurat, &bits, play.noise, n);
    now.sum = 0.0;
}

static uint16_t code_of(const double *point, int32_t dims)
{
    uint16_t fractions[DIMENSIONS] = {0};
    for (int32_t k = 0; k < dims; k++)
        fractions[k] = (uint16_t)(point[k] * 65536.0);
    return adamb_code_pack(fractions, (uint8_t)dims);
}

/* The finest ball above a point that is split. */
static void find_split(int h)
{
    adamb_call c;
    adamb_call_decode(&c, block, (uint8_t)h);
    uint32_t slot = adamb_tree_root(&c), path = adamb_code_path(&c, code_of(now.state, play.d_s), code_of(now.action, play.d_a));
    for (int level = 0; is_link(&c, block[slot]) && is_link(&c, block[unit_base(block[slot])]); level++) {
        now.split_level = level;
        now.split_n = own_n(block, block[slot]);
        slot = unit_base(block[slot]);
        for (uint32_t more = c.chunks; more != 0 && is_link(&c, block[slot]); more--, path <<= 2)
            slot = unit_base(block[slot]) + (path >> 30);
    }
}

/* Act, let the world answer, learn. 1 at the end of an episode, else 0; below 0 a code of the core. */
EXPORT(step) int step(void)
{
    if (play.h == 0)
        begin_episode();
    else
        for (int32_t k = 0; k < play.d_s; k++)
            now.state[k] = now.next[k];
    now.split_level = -1.0;
    int h = play.h, splits = block[ADAMB_H_SPLITS], code = adamb_batch_act(block, words, 1, h, now.state, now.action);
    if (code != 0)
        return code;
    step_world(h, now.state, now.action, play.noise + h * play.numbers, &now.reward, now.next);
    now.sum += now.reward;
    code = adamb_batch_observe(block, words, 1, h, &now.reward, now.next);
    if (code != 0)
        return code;
    if (block[ADAMB_H_SPLITS] > splits)
        find_split(h);
    play.h = h + 1 == play.horizon ? 0 : h + 1;
    if (play.h != 0)
        return 0;
    code = adamb_batch_end_episode(block, words, 1);
    return code != 0 ? code : 1;
}

EXPORT(numbers) void *numbers_of_now(void)
{
    return &now;
}

EXPORT(next_h) int next_h(void)
{
    return play.h;
}

EXPORT(block) uint16_t *the_block(void)
{
    return block;
}

/* ---- what a board does about damage ---- */

EXPORT(check) int check(void)
{
    return adamb_check(block, words);
}

EXPORT(scrub) int scrub(void)
{
    return adamb_scrub(block, words, &place);
}

EXPORT(save) int32_t save(uint8_t *out)
{
    return adamb_snapshot_save(block, out, 16 + 2 * words);
}

/* After it, as after a cut of the power, an episode begins. */
EXPORT(restore) int restore(const uint8_t *data, uint32_t length)
{
    play.h = 0;
    place = (adamb_place){0};
    return adamb_snapshot_restore(data, length, &config, block, words);
}

EXPORT(error_text) const char *error_text(int code)
{
    return adamb_error_text(code);
}

/* ---- the optimum, and the best action to play always, on a grid ---- */

static struct {
    int32_t nodes, actions, quantiles;
    const double *line, *choices, *noise; /* places of states on an axis, actions, noise (quantile, number) */
    double *q;                            /* step, state, action */
    double *v, *fixed;                    /* of this step and the next: state; action, state */
} grid;

typedef struct {
    int32_t at[1 << DIMENSIONS];
    double weight[1 << DIMENSIONS];
} corners;

static int32_t states(void)
{
    int32_t n = 1;
    for (int32_t k = 0; k < play.d_s; k++)
        n *= grid.nodes;
    return n;
}

/* Where a state lies between the nodes; those of an axis are nearly evenly spaced. */
static corners corners_of(const double *state)
{
    corners found = {{0}, {1.0}};
    for (int32_t k = 0; k < play.d_s; k++) {
        double x = state[k];
        int32_t cell = (int32_t)(x * (grid.nodes - 1));
        cell -= cell > 0 && x < grid.line[cell];
        cell += cell < grid.nodes - 2 && x >= grid.line[cell + 1];
        cell = cell > grid.nodes - 2 ? grid.nodes - 2 : cell;
        double part = (x - grid.line[cell]) / (grid.line[cell + 1] - grid.line[cell]);
        for (int32_t i = (1 << k) - 1; i >= 0; i--) {
            int32_t low = found.at[i] * grid.nodes + cell;
            double weight = found.weight[i];
            found.at[2 * i] = low;
            found.at[2 * i + 1] = low + 1;
            found.weight[2 * i] = weight * (1.0 - part);
            found.weight[2 * i + 1] = weight * part;
        }
    }
    return found;
}

static double read_at(const double *values, const corners *where)
{
    double sum = 0.0;
    for (int32_t i = 0; i < 1 << play.d_s; i++)
        sum += where->weight[i] * values[where->at[i]];
    return sum;
}

EXPORT(grid) double *set_grid(int32_t nodes, int32_t actions, int32_t quantiles, const double *line, const double *choices,
                              const double *noise)
{
    grid.nodes = nodes;
    grid.actions = actions;
    grid.quantiles = quantiles;
    grid.line = line;
    grid.choices = choices;
    grid.noise = noise;
    uint32_t n = (uint32_t)states(), a = (uint32_t)actions;
    grid.q = reserve(8 * (uint32_t)play.horizon * n * a);
    grid.v = reserve(16 * n);
    grid.fixed = reserve(16 * n * a);
    return grid.q;
}

/* Step h from step h + 1, which has to be solved already. */
EXPORT(solve) void solve(int32_t h)
{
    int32_t n = states(), last = h + 1 == play.horizon;
    double *v = grid.v + (h & 1 ? n : 0), *fixed = grid.fixed + (h & 1 ? n * grid.actions : 0);
    const double *after = grid.v + (h & 1 ? 0 : n), *kept = grid.fixed + (h & 1 ? 0 : n * grid.actions);
    for (int32_t i = 0; i < n; i++) {
        double state[DIMENSIONS], next[DIMENSIONS], reward, *q = grid.q + ((int64_t)h * n + i) * grid.actions;
        for (int32_t k = play.d_s - 1, rest = i; k >= 0; k--, rest /= grid.nodes)
            state[k] = grid.line[rest % grid.nodes];
        v[i] = -1.0;
        for (int32_t a = 0; a < grid.actions; a++) {
            double best = 0.0, always = 0.0;
            for (int32_t j = 0; j < grid.quantiles; j++) {
                step_world(h, state, grid.choices + a, grid.noise + j * play.numbers, &reward, next);
                best += reward;
                always += reward;
                if (!last) {
                    corners where = corners_of(next);
                    best += read_at(after, &where);
                    always += read_at(kept + (int64_t)a * n, &where);
                }
            }
            q[a] = best / grid.quantiles;
            fixed[a * n + i] = always / grid.quantiles;
            v[i] = q[a] > v[i] ? q[a] : v[i];
        }
    }
}

enum { STARTS = 32 };

/* Mean over the starts of what an episode earns where this action is always played; of -1, the best one in each state. */
EXPORT(worth) double worth(int32_t action)
{
    const double *values = action < 0 ? grid.v : grid.fixed + (int64_t)action * states();
    double sum = 0.0, state[DIMENSIONS];
    int32_t count = 1;
    for (int32_t k = 0; k < play.d_s && play.start == NULL; k++)
        count *= STARTS;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0, rest = i; k < play.d_s; k++, rest /= STARTS)
            state[k] = play.start ? play.start[k] : (rest % STARTS + 0.5) / STARTS;
        corners where = corners_of(state);
        sum += read_at(values, &where);
    }
    return sum / count;
}

/* ---- the block for a picture: it is read by the core's own functions, and whatever its words are ---- */

typedef struct {
    uint16_t level, state, action, n, q, reward, clock, record;
} ball;

enum { RECORDS, ROUTING, COUNTS, VALUES, HELD, TESTING, KINDS };

static struct {
    adamb_call c;
    int32_t count, visits;
    int32_t units[KINDS];
    ball balls[BALLS_MOST];
} view;

static void put(uint32_t level, uint32_t state, uint32_t action, uint16_t word, uint16_t rec, uint32_t of)
{
    if (view.count == BALLS_MOST)
        return;
    view.balls[view.count++] = (ball){
        (uint16_t)level, (uint16_t)state, (uint16_t)action, 0, adamb_tree_q(&view.c, word, rec, (uint8_t)of), 0, 0, 0};
}

/* Behind a value lie all balls of a level that no routing block divides yet. */
static void put_unvisited(uint16_t word, uint32_t level, const uint32_t used[2], const uint32_t codes[2], uint16_t parent)
{
    uint32_t s_end = level * view.c.d_s, a_end = level * view.c.d_a;
    for (uint32_t i = 0; i < 1u << (s_end - used[0]); i++)
        for (uint32_t j = 0; j < 1u << (a_end - used[1]); j++)
            put(level, codes[0] | i << (16 - s_end), codes[1] | j << (16 - a_end), word, parent, level - 1);
}

static void count_entries(uint16_t rec)
{
    uint16_t unit = view.c.w[unit_base(rec) + ADAMB_R_COUNTS];
    for (int32_t left = WORDS_MOST / 4; left > 0 && is_link(&view.c, unit); left--) {
        view.units[COUNTS]++;
        unit = view.c.w[unit_base(unit)];
    }
}

static void walk(uint32_t slot, uint32_t level, uint32_t chunk, const uint32_t used[2], const uint32_t codes[2], uint16_t parent)
{
    const adamb_call *c = &view.c;
    uint16_t word = c->w[slot];
    if (++view.visits > WORDS_MOST)
        return; /* more slots than there are words: a damaged block that links round in circles */
    if (!is_link(c, word)) {
        put_unvisited(word, level + (chunk != 0), used, codes, parent);
        return;
    }
    if (chunk == 0) {
        const uint16_t *rec = c->w + unit_base(word);
        view.units[RECORDS]++;
        if (!c->held)
            count_entries(word);
        if (!is_link(c, rec[0]) || level >= c->finest) {
            int32_t at = view.count;
            put(level, codes[0], codes[1], rec[0], word, level);
            if (at < view.count) {
                view.balls[at].n = rec[ADAMB_R_N] & ADAMB_N_MAX;
                view.balls[at].clock = rec[ADAMB_R_N] >> ADAMB_CREDIT_SHIFT;
                view.balls[at].reward = rec[ADAMB_R_REWARD];
                view.balls[at].record = word;
            }
            return;
        }
        parent = word;
        word = rec[0];
    }
    view.units[ROUTING]++;
    uint32_t s_n = adamb_code_state_bits(c, chunk), a_n = adamb_code_action_bits(c, chunk), last = chunk + 1 == c->chunks;
    uint32_t bits[2] = {used[0] + s_n, used[1] + a_n};
    for (uint32_t i = 0; i < 1u << (s_n + a_n); i++) {
        uint32_t below[2] = {codes[0] | (i >> a_n) << (16 - bits[0]), codes[1] | (i & ((1u << a_n) - 1)) << (16 - bits[1])};
        walk(unit_base(word) + i, level + last, last ? 0 : chunk + 1, bits, below, parent);
    }
}

static int look(int h)
{
    static const uint32_t NONE[2];
    adamb_call_decode(&view.c, block, (uint8_t)h);
    view.count = view.visits = 0;
    walk(adamb_tree_root(&view.c), 0, 0, NONE, NONE, 0);
    return view.count;
}

/* How many balls step h has; the rows are those of `rows`. */
EXPORT(balls) int balls(int h)
{
    return adamb_config_usable(block) ? look(h) : 0;
}

EXPORT(rows) ball *rows(void)
{
    return view.balls;
}

static int32_t value_units(uint32_t slot, uint32_t left)
{
    uint16_t word = block[slot];
    if (left == 0 || !is_link(&view.c, word))
        return 0;
    return 1 + value_units(unit_base(word), left - 1) + value_units(unit_base(word) + 1, left - 1);
}

/* Units by owner: records, routing, counts, values, what held episodes have, and the sharing test's table. */
EXPORT(owners) int32_t *owners(void)
{
    for (int i = 0; i < KINDS; i++)
        view.units[i] = 0;
    if (!adamb_config_usable(block))
        return view.units;
    for (int h = 0; h < play.horizon; h++) {
        adamb_call_decode(&view.c, block, (uint8_t)h);
        view.units[VALUES] += value_units(view.c.step + ADAMB_S_V_SLOT, ADAMB_LEVEL_MAX);
        if (h == 0 || !view.c.shared)
            look(h);
    }
    int32_t records = view.units[RECORDS], routing = view.units[ROUTING];
    look(play.horizon);
    view.units[HELD] = view.units[RECORDS] - records + view.units[ROUTING] - routing;
    view.units[RECORDS] = records;
    view.units[ROUTING] = routing;
    view.units[TESTING] = block[ADAMB_H_SHARE] == ADAMB_SHARE_TESTING ? ADAMB_SHARE_TABLE_UNITS : 0;
    return view.units;
}

/* The action that a stepwise episode would play at step h in a state of the page. */
EXPORT(policy) uint32_t policy(int h, const double *state)
{
    return block[adamb_value_cell(block, adamb_call_step(block, (uint32_t)h), code_of(state, play.d_s)) + 2];
}
