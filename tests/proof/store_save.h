/* save_to calls the functions in front of it: from here on by what their proofs say. */
static int contract_erase_group(const adamb_store *s, uint32_t slot)
{
    CHECK(store_ok(s));
    return any_int();
}

static int contract_slot(const adamb_store *s, uint32_t slot, const uint16_t *block, const uint8_t *heads, uint32_t end)
{
    CHECK(store_ok(s) && block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS] && end <= HEADS + 2 * unit_base(block[ADAMB_H_FRESH]));
    __CPROVER_havoc_object(s->page);
    return any_int();
}

static int contract_is_blank(adamb_store *s, uint32_t slot)
{
    CHECK(store_ok(s));
    s->scanned = any32();
    __CPROVER_havoc_object(s->page);
    return any_int();
}
#define erase_group contract_erase_group
#define is_blank contract_is_blank
#define write_slot contract_slot
#undef adamb_number_divide
#define adamb_number_divide contract_divide
