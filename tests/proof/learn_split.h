/* split asks for refreshes of up to 31 steps: from here on by the contract of request. */
static void request_by_contract(uint16_t *w, uint32_t step, uint16_t state_code, uint8_t bits)
{
    CHECK(step_there(w, step) && bits <= ADAMB_LEVEL_MAX);
    change_block(w);
}
#define request request_by_contract
