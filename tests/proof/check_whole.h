/* For adamb_check itself: its two walks by what the proofs before said of them. */

static void contract_walk(adamb_walk *k)
{
    CHECK(!k->bad && k->met <= k->w[ADAMB_H_UNITS] && k->c.w == k->w && k->c.h <= k->w[ADAMB_H_DIMS] >> 8);
    CHECK(k->c.step == adamb_call_step(k->w, k->c.h));
    CHANGE_WALK(k);
    ASSUME(k->bad || k->met <= k->w[ADAMB_H_UNITS]);
}

static void contract_walk_tree(adamb_walk *k, uint32_t root)
{
    CHECK(root == k->c.step + ADAMB_S_ROOT);
    contract_walk(k);
}
#define walk_value contract_walk
#define walk_tree contract_walk_tree
