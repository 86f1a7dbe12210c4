#include "adamb_batch.h"

#include "adamb.h"
#include "adamb_spec.h"

static uint16_t fraction(double x)
{
    return x <= 0.0 ? 0 : x >= 65535.0 / 65536.0 ? 65535 : (uint16_t)(x * 65536.0);
}

static uint16_t reward_fraction(double x)
{
    return fraction(x + 0.5 / 65536.0); /* rewards are rounded, coordinates belong to the cell they are in */
}

static uint32_t state_dims(const uint16_t *block)
{
    return block[ADAMB_H_DIMS] & 15u;
}

static uint32_t action_dims(const uint16_t *block)
{
    return block[ADAMB_H_DIMS] >> 4 & 15u;
}

/* Dimensions that a damaged header names must not lead past the arrays below, nor a horizon of 0 to a division;
 * the calls of the core find the rest. */
static int bad_shape(const uint16_t *block)
{
    uint32_t d_s = state_dims(block), d_a = action_dims(block);
    return d_s == 0 || d_s > ADAMB_DIM_MAX || d_a == 0 || d_a > ADAMB_DIM_MAX || block[ADAMB_H_DIMS] >> 8 == 0;
}

int adamb_batch_act(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *states, double *actions)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t *block = blocks + (uint64_t)i * stride;
        uint16_t state[ADAMB_DIM_MAX] = {0}, action[ADAMB_DIM_MAX];
        if (bad_shape(block)) {
            return ADAMB_BAD_BLOCK;
        }
        for (uint32_t k = 0; k < state_dims(block); k++) {
            state[k] = fraction(*states++);
        }
        int error = adamb_act(block, h, state, action);
        if (error != 0) {
            return error;
        }
        for (uint32_t k = 0; k < action_dims(block); k++) {
            *actions++ = action[k] / 65536.0;
        }
    }
    return 0;
}

int adamb_batch_observe(uint16_t *blocks, uint32_t stride, uint32_t n, int h, const double *rewards, const double *next)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t *block = blocks + (uint64_t)i * stride;
        uint16_t state[ADAMB_DIM_MAX] = {0};
        if (bad_shape(block)) {
            return ADAMB_BAD_BLOCK;
        }
        for (uint32_t k = 0; k < state_dims(block); k++) {
            state[k] = fraction(*next++);
        }
        int error = adamb_observe(block, h, reward_fraction(rewards[i]), state);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int adamb_batch_end_episode(uint16_t *blocks, uint32_t stride, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int error = adamb_end_episode(blocks + (uint64_t)i * stride);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

int adamb_batch_replay(uint16_t *block, uint32_t steps, const uint16_t *states, const uint16_t *rewards,
                       const uint16_t *next, uint16_t *actions)
{
    uint32_t d_s = state_dims(block), d_a = action_dims(block), horizon = block[ADAMB_H_DIMS] >> 8;
    uint16_t action[ADAMB_DIM_MAX];
    if (bad_shape(block)) {
        return ADAMB_BAD_BLOCK;
    }
    for (uint64_t i = 0; i < steps; i++) {
        int h = (int)(i % horizon);
        int error = adamb_act(block, h, states + i * d_s, action);
        for (uint32_t k = 0; k < d_a && actions != 0 && error == 0; k++) {
            actions[i * d_a + k] = action[k];
        }
        if (error == 0) {
            error = adamb_observe(block, h, rewards[i], next + i * d_s);
        }
        if (error == 0 && (uint32_t)h + 1 == horizon) {
            error = adamb_end_episode(block);
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}
