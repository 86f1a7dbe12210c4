/* adamb_scrub walks one path: from here on by what the proofs of the two walks say. */
static int contract_slice(const adamb_call *c, uint32_t path)
{
    int used = any_int();
    CHECK(c->h < c->horizon && c->step == adamb_call_step(c->w, c->h));
    CHECK(c->w[ADAMB_H_FRESH] >= c->w[ADAMB_H_POOL_AT] && c->w[ADAMB_H_FRESH] <= c->w[ADAMB_H_UNITS]);
    ASSUME(used >= -1 && used <= (int)PATH_BITS);
    return used;
}
#define scrub_value contract_slice
#define scrub_ball contract_slice
