/* holds and find call the two functions in front of them: from here on by what their proofs say. */

/* The words that a snapshot fills are there, if it is read into a block. */
static int snapshot_fits(const uint8_t *heads, const uint16_t *block, uint32_t words)
{
    return block == 0 || (adamb_snapshot_get32(heads + AT_BYTES) <= ADAMB_SNAPSHOT_HEAD_BYTES + 8 * ADAMB_UNITS_MAX &&
                          adamb_snapshot_get32(heads + AT_BYTES) <= ADAMB_SNAPSHOT_HEAD_BYTES + 2 * (uint64_t)words);
}

static uint32_t contract_read_heads(adamb_store *s, uint32_t slot, uint8_t *heads)
{
    uint32_t number = any32();
    s->scanned = any32();
    __CPROVER_havoc_object(heads);
    ASSUME(number == 0 || heads_ok(s, heads));
    return number;
}

static int contract_read_snapshot(adamb_store *s, uint32_t slot, const uint8_t *heads, uint16_t *block)
{
    s->scanned = any32();
    CHECK(heads_ok(s, heads));
    CHECK(snapshot_fits(heads, block, block_words));
    __CPROVER_havoc_object(s->page);
    change_words(block);
    return any_int();
}
#define read_heads contract_read_heads
#define read_snapshot contract_read_snapshot
