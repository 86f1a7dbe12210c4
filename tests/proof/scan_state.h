/* What holds at the head of every round of adamb_tree_scan; included in front of it, where its types are known. */

/* The entries of the first `known` depths: path_entry is a function of the call and the state code. */
static void scan_enter(const adamb_call *c, adamb_path *p, uint32_t state_code, uint32_t known)
{
    adamb_path q;
    q.rest = adamb_code_path(c, state_code, 0);
    q.bits = c->bits;
    q.entry[0] = ROOT_ENTRY;
    for (uint32_t k = 0; k < ADAMB_PATH_MAX; k++) {
        if (k != 0) {
            q.entry[k] = path_entry(c, &q, q.entry[k - 1]);
        }
        if (k <= known) {
            p->entry[k] = q.entry[k];
        }
        if (k == known) {
            p->rest = q.rest;
            p->bits = q.bits;
        }
    }
}

/* The place of the next slot in the block of this depth. */
static uint32_t scan_part(uint32_t entry, uint32_t action)
{
    return (entry >> 5 & 3u) + (action >> (entry & 31u) & (entry >> 7 & 3u));
}

/* At a depth between the root and the deepest known: the entry is that of the depth, and no action bit below is set. */
static int depth_ok(const adamb_path *p, uint32_t action, uint32_t depth, uint32_t known, uint32_t entry)
{
    return depth <= known && entry == p->entry[depth] && (action & ((1u << (entry & 31u)) - 1u)) == 0;
}

static int link_ok(const adamb_call *c, const adamb_path *p, uint32_t known, uint32_t k)
{
    return k > known || (p->block[k] < c->w[ADAMB_H_UNITS] && p->rec[k] < c->w[ADAMB_H_UNITS]);
}

/* At the root only before the first round; else at the place of the action in the block of this depth. */
static int slot_of(const adamb_call *c, const adamb_path *p, const adamb_ranking *r, uint32_t slot, uint32_t action,
                   uint32_t depth, uint32_t known, uint32_t entry)
{
    if (depth == 0) {
        return known == 0 && action == 0 && slot == c->tree && r->rec == 0 && r->of == 0;
    }
    return slot == unit_base(p->block[depth]) + scan_part(entry, action);
}

static void scan_change(const adamb_call *c, adamb_path *p, adamb_ranking *r, uint32_t state_code, uint32_t known)
{
    adamb_path any_path;
    adamb_ranking any_ranking;
    any_path.block[0] = any_path.rec[0] = 0;
    *p = any_path;
    *r = any_ranking;
    scan_enter(c, p, state_code, known);
    for (uint32_t k = 1; k < ADAMB_PATH_MAX; k++) {
        ASSUME(link_ok(c, p, known, k));
    }
}
