/* The pool, for any content of its words in the header. */
#include "proof.h"
#include "adamb_number.c"
#include "adamb_config.c"

void prove_alloc(void)
{
    uint16_t *block = sealed_block();
    proof_seal before = seal_of(block);
    uint16_t unit = adamb_pool_alloc(block);
    CHECK(unit == 0 || (unit >= before.pool_at && unit < before.units));
    CHECK(seal_kept(block, before));
    REACHED;
}

KEEPS_SEAL(release)
{
    adamb_pool_free(block, any16());
}
