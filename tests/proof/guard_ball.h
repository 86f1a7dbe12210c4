/* scrub_ball looks at a record on each level: from here on by what prove_slice_of_a_record says. */
static int contract_slice_record(const adamb_call *c, uint32_t rec, uint32_t level)
{
    CHECK(in_use(c, rec) && level <= c->finest);
    return any_int();
}
#define scrub_record contract_slice_record
