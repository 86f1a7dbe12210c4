/* adamb_counts_add calls the functions in front of it: from here on by their contracts. */

static uint32_t contract_entry(const adamb_call *c, uint16_t rec, uint32_t bits, uint16_t cell)
{
    uint32_t i = any32();
    CHECK(is_link(c, rec) && bits >= 1 && bits <= ADAMB_LEVEL_MAX);
    change_block(c->w);
    ASSUME(word_ok(c, i));
    return i;
}

static void contract_halve(const adamb_call *c, uint16_t rec, uint32_t bits)
{
    CHECK(is_link(c, rec) && bits >= 1 && bits <= ADAMB_LEVEL_MAX);
    change_block(c->w);
}
#define find contract_entry
#define halve contract_halve
