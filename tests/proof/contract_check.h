/* adamb_check by what its proofs say, and what a loop clears behind a checked part of a block. */

/* check.c and header.c: what an accepted block has. */
static proof_seal checked;

static int contract_check(const uint16_t *block, uint32_t words)
{
    if (block == 0 || words < ADAMB_H_WORDS) {
        return ADAMB_BAD_ARGUMENT;
    }
    checked = seal_of(block);
    return any8() && sealed(block, words) && block[ADAMB_H_FRESH] <= block[ADAMB_H_UNITS] ? 0 : ADAMB_BAD_BLOCK;
}
#define CALL_adamb_check contract_check

/* What is cleared lies behind the part in use: the header stays as it was checked. */
static void clear_some(uint16_t *block, uint32_t keep)
{
    __CPROVER_havoc_object(block);
    ASSUME(keep == 0 || seal_kept(block, checked));
}
