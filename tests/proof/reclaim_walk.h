/* adamb_reclaim_tree calls the functions in front of it: from here on the larger ones by their contracts. */

static void contract_fold(const adamb_call *c, uint32_t slot, uint16_t parent, uint8_t level)
{
    CHECK(word_ok(c, slot) && is_link(c, c->w[slot]) && is_link(c, parent) && level < c->finest);
    change_block(c->w);
}

static void contract_remove(const adamb_call *c, uint16_t block, uint32_t slots, uint32_t above, uint8_t level)
{
    CHECK(is_link(c, block) && slots >= 1 && slots <= 4);
    CHECK(level == 0xFF ? word_ok(c, above) : level <= c->finest && is_link(c, above));
    change_block(c->w);
}
static uint32_t contract_pick(const adamb_call *c, uint16_t block, uint32_t slots, int records)
{
    uint32_t i = any32();
    CHECK(is_link(c, block) && slots >= 1 && slots <= 4);
    c->w[ADAMB_H_RNG] = any16();
    ASSUME(i == slots || (i < slots && is_link(c, c->w[at(block) + i])));
    return i;
}

static int contract_played(const adamb_call *c, uint32_t state, uint32_t action, uint8_t level)
{
    CHECK(level <= c->finest);
    c->w[ADAMB_H_RNG] = any16();
    return any_int();
}
#define fold contract_fold
#define pick contract_pick
#define played contract_played
#define remove_block contract_remove
