/* adamb_act for any arguments and any content of a block of any size; adamb_stats, which reads the same words. */
#include "proof.h"

/* Whether the seal is found whole: the answer to it is all that matters here. */
static int usable;

static int contract_usable(const uint16_t *w)
{
    return usable;
}

/* The real one reads these words and no other. */
void prove_usable_reads_the_header(void)
{
    adamb_config_usable(any_block(ADAMB_H_POOL_AT + 1));
    REACHED;
}
#define CALL_adamb_config_usable contract_usable
#include "adamb_number.c"
#include "adamb_config.c"
#include "adamb_value.c"
#include "adamb_core.c"

static uint16_t *any_point(uint32_t dims)
{
    return any8() ? any_block(dims) : 0;
}

/* The arrays are those of the program: as long as its configuration says, which init, restore and guard compare. */
void prove_act_behind_the_seal(void)
{
    adamb_config program;
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    uint32_t watched = any32();
    ASSUME(before.dims == adamb_config_dims(&program));
    uint16_t *state = any_point(program.d_s), *action = any_point(program.d_a);
    uint16_t flags = block[ADAMB_H_FLAGS], held = block[ADAMB_H_HELD];
    ASSUME(watched < unit_base(before.units));
    uint16_t word = block[watched];
    usable = any_int();
    int h = any_int(), result = adamb_act(block, h, state, action);
    CHECK(seal_kept(block, before));
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK);
    uint32_t step = adamb_call_step(block, (uint32_t)h);
    int may_change = result == 0 && (watched == step + ADAMB_S_STATE || watched == step + ADAMB_S_ACTION ||
                                     (watched == ADAMB_H_RNG && held != 1 && (flags & ADAMB_FLAG_RANDOM) != 0));
    CHECK(may_change || block[watched] == word);
    REACHED;
}

void prove_given_behind_the_seal(void)
{
    adamb_config program;
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    uint32_t watched = any32();
    ASSUME(before.dims == adamb_config_dims(&program));
    uint16_t *state = any_point(program.d_s), *action = any_point(program.d_a);
    ASSUME(watched < unit_base(before.units));
    uint16_t word = block[watched];
    usable = any_int();
    int h = any_int(), result = adamb_given(block, h, state, action);
    CHECK(seal_kept(block, before));
    CHECK(result == 0 || result == ADAMB_BAD_ARGUMENT || result == ADAMB_BAD_BLOCK);
    uint32_t step = adamb_call_step(block, (uint32_t)h);
    int may_change = result == 0 && (watched == step + ADAMB_S_STATE || watched == step + ADAMB_S_ACTION ||
                                     watched == ADAMB_H_HELD);
    CHECK(may_change || block[watched] == word);
    REACHED;
}

/* No assumption on the content: where the seal is broken, nothing is read but the header, and nothing is written. */
void prove_act_on_a_broken_seal(void)
{
    uint16_t *block = any_block(ADAMB_H_POOL_AT + 1);
    usable = 0;
    uint32_t watched = any32();
    ASSUME(watched <= ADAMB_H_POOL_AT);
    uint16_t word = block[watched], *none = any_block(0);
    CHECK(adamb_act(block, any_int(), none, none) == ADAMB_BAD_BLOCK);
    CHECK(block[watched] == word);
    REACHED;
}

void prove_act_without_a_block(void)
{
    uint16_t point[ADAMB_DIM_MAX];
    CHECK(adamb_act(0, any_int(), point, point) == ADAMB_BAD_ARGUMENT);
    REACHED;
}
