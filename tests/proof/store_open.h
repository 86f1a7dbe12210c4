/* Whether the geometry is given, and quotients are computed with. */
static int given;

/* From here on a search by what its proof says. */
static uint32_t contract_find(adamb_store *s, uint32_t *number, uint8_t *heads)
{
    uint32_t slot = any32(), before = *number;
    s->scanned = any32();
    CHECK(!given || store_ok(s));
    __CPROVER_havoc_object(heads);
    __CPROVER_havoc_object(s->page);
    *number = any32();
    ASSUME(*number <= before && slot <= s->slots && (slot == s->slots || (*number >= 1 && heads_ok(s, heads))));
    return slot;
}
#define find contract_find

/* A quotient: number.c proves the routine for 8 bits, tests compare it for more. Where the geometry is given it is computed,
 * elsewhere what is needed of it is that it times the divisor is no more than the number. */
static uint32_t contract_quotient(uint32_t number, uint32_t by)
{
    uint32_t quotient = any32();
    CHECK(by != 0);
    ASSUME((uint64_t)quotient * by <= number && (number < by || quotient >= 1));
    return given ? number / by : quotient;
}
#undef adamb_number_divide
#define adamb_number_divide contract_quotient
