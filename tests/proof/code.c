/* Packing: any coordinates, any codes, all dimensions; the caller's arrays have exactly so many words. */
#include "proof.h"
#include "adamb_number.c"
#include "adamb_config.c"

static uint8_t any_dims(void)
{
    uint8_t dims = any8();
    ASSUME(dims >= 1 && dims <= ADAMB_DIM_MAX);
    return dims;
}

void prove_pack(void)
{
    uint8_t dims = any_dims();
    uint16_t code = adamb_code_pack(any_block(dims), dims);
    CHECK(dims != 3 || (code & 1) == 0);
    REACHED;
}

void prove_unpack(void)
{
    uint8_t dims = any_dims();
    adamb_code_unpack(any16(), dims, any_block(dims));
    REACHED;
}

/* A code that pack can give comes back from its point. */
void prove_unpack_then_pack(void)
{
    uint8_t dims = any_dims();
    uint16_t point[ADAMB_DIM_MAX], code = any16();
    ASSUME(dims != 3 || (code & 1) == 0);
    adamb_code_unpack(code, dims, point);
    CHECK(adamb_code_pack(point, dims) == code);
    REACHED;
}

void prove_centre(void)
{
    uint32_t d_a = any_dims(), level = any32();
    ASSUME(level <= ADAMB_LEVEL_MAX && (level + 1) * d_a <= 16);
    CHECK(adamb_code_centre(any16(), level * d_a, d_a) != 0);
    REACHED;
}

void prove_inside(void)
{
    adamb_code_inside(any16(), any16(), any_dims());
    REACHED;
}

/* The way to a state, whatever the action: every slot number is one of its block. */
void prove_path(void)
{
    uint16_t *block = sealed_block();
    adamb_call c = any_call(block);
    uint32_t way = adamb_code_path(&c, any16(), any16()), depth = any32(), bits = c.bits;
    ASSUME(depth < (uint32_t)c.finest * c.chunks);
    uint32_t chunk = depth % c.chunks;
    CHECK(way << 2 * depth >> 30 < 1u << (adamb_code_state_bits(&c, chunk) + adamb_code_action_bits(&c, chunk)));
    REACHED;
}
