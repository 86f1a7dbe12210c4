/* adamb_learn_sample calls the functions in front of it: from here on by their contracts. */

static void contract_descend(adamb_call *c, uint32_t path)
{
    CHECK(call_ok(c));
    change_block(c->w);
    c->level = any8();
    c->slot = any32();
    c->rec = any16();
    c->parent = any16();
    ASSUME(ball_ok(c));
}

static void contract_gather(adamb_call *c, uint32_t path)
{
    CHECK(call_ok(c) && ball_ok(c));
    c->weight = any32();
    c->value = any32();
    c->inherited_n = any32();
    c->expected = any32();
    ASSUME(gathered_ok(c));
}

static uint16_t contract_update(adamb_call *c, uint16_t reward, uint16_t next_code)
{
    uint16_t q = any16();
    CHECK(call_ok(c) && ball_ok(c) && (c->rec != 0 || c->parent != 0));
    change_block(c->w);
    ASSUME(q <= ADAMB_VALUE_MAX);
    return q;
}

static void contract_request(uint16_t *w, uint32_t step, uint16_t state_code, uint8_t bits)
{
    CHECK(step_there(w, step) && bits <= ADAMB_LEVEL_MAX);
    change_block(w);
}

static void contract_split(adamb_call *c, uint16_t state_code)
{
    CHECK(call_ok(c) && ball_ok(c) && c->rec != 0 && c->level < c->finest);
    change_block(c->w);
}
#define descend contract_descend
#define gather_above contract_gather
#define update contract_update
#define request contract_request
#define split contract_split
