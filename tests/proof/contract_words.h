/* For what walks the whole block: a header, a record, counts and a cell by themselves, as header.c and value.c prove. */

/* words.c: what an accepted header has; the contract of nothing else is needed. */
static int contract_header(adamb_call *c, const uint16_t *w, uint32_t words)
{
    uint32_t fresh = w[ADAMB_H_FRESH];
    if (!sealed(w, words) || fresh < w[ADAMB_H_POOL_AT] || fresh > w[ADAMB_H_UNITS]) {
        return 0;
    }
    adamb_call_decode(c, (uint16_t *)(uintptr_t)w, 0);
    return any_int();
}
#define CALL_adamb_words_header contract_header

static int contract_words(const adamb_call *c, uint32_t unit, uint32_t level)
{
    CHECK(unit < c->w[ADAMB_H_UNITS] && level <= c->finest);
    return any_int();
}
#define CALL_adamb_words_record contract_words
#define CALL_adamb_words_counts contract_words

static int contract_cell(const adamb_call *c, uint32_t slot)
{
    CHECK(slot_ok(c, slot));
    return any_int();
}
#define CALL_adamb_words_cell contract_cell

static uint32_t contract_mean(const uint16_t *w, uint32_t node)
{
    CHECK(node < unit_base(w[ADAMB_H_UNITS]) - 3);
    return any32();
}
#define CALL_adamb_value_mean contract_mean
