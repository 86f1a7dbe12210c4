/* find calls the function in front of it: from here on by its contract. */

static uint32_t contract_place(const adamb_call *c, uint32_t head, uint32_t bits, uint16_t cell)
{
    uint32_t i = any32();
    CHECK(word_ok(c, head) && bits <= ADAMB_LEVEL_MAX);
    change_block(c->w);
    ASSUME(word_ok(c, i));
    return i;
}
#define place contract_place
