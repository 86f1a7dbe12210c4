/* What holds at the head of every round of the walks of adamb_check; included in front of them. */

static int in_use_ok(const adamb_walk *k, uint32_t unit)
{
    return unit >= k->w[ADAMB_H_POOL_AT] && unit < k->w[ADAMB_H_FRESH];
}

static int tree_ok(const adamb_walk *k, const uint16_t *block, const uint8_t *next, uint32_t depth, uint32_t i)
{
    return i >= depth || (in_use_ok(k, block[i]) && next[i] <= 4);
}

static void change_tree(const adamb_walk *k, uint16_t *block, uint8_t *next, uint32_t depth)
{
    for (uint32_t i = 0; i < ADAMB_PATH_MAX; i++) {
        block[i] = any16();
        next[i] = any8();
        ASSUME(tree_ok(k, block, next, depth, i));
    }
}

static uint64_t tree_was(const adamb_walk *k, const uint8_t *next, uint32_t depth)
{
    met_before = k->met;
    depth_before = depth;
    for (uint32_t i = 0; i < ADAMB_PATH_MAX; i++) {
        next_before[i] = next[i];
    }
    return 1;
}

static int tree_went_on(const adamb_walk *k, const uint8_t *next, uint32_t depth)
{
    if (k->met > met_before) {
        return 1;
    }
    return k->met == met_before && depth != 0 && depth <= depth_before &&
           next[depth - 1] == next_before[depth - 1] + 1 &&
           (any_depth + 1 >= depth || next[any_depth] == next_before[any_depth]);
}

/* The side of the node in path[i] that the walk is in. */
static uint32_t side(const adamb_walk *k, const uint32_t *path, uint32_t slot, uint32_t depth, uint32_t i)
{
    return (i + 1 < depth ? path[i + 1] : slot) - unit_base(k->w[path[i]]);
}

static int path_ok(const adamb_walk *k, const uint32_t *path, uint32_t slot, uint32_t depth, uint32_t i)
{
    return i >= depth ||
           (slot_ok(&k->c, path[i]) && in_use_ok(k, k->w[path[i]]) && side(k, path, slot, depth, i) <= 1);
}

static void change_path(const adamb_walk *k, uint32_t *path, uint32_t slot, uint32_t depth)
{
    ASSUME(depth <= ADAMB_LEVEL_MAX);
    for (uint32_t i = 0; i < ADAMB_PATH_MAX; i++) {
        path[i] = any32();
    }
    for (uint32_t i = 0; i < ADAMB_PATH_MAX; i++) {
        ASSUME(path_ok(k, path, slot, depth, i));
    }
}

static uint64_t value_was(const adamb_walk *k, const uint32_t *path, uint32_t slot, uint32_t depth)
{
    met_before = k->met;
    depth_before = depth;
    slot_before = slot;
    for (uint32_t i = 0; i < ADAMB_PATH_MAX; i++) {
        path_before[i] = path[i];
    }
    return 1;
}

/* To the second side of a node on the way. */
static int value_went_on(const adamb_walk *k, const uint32_t *path, uint32_t slot, uint32_t depth)
{
    if (k->met > met_before) {
        return 1;
    }
    return k->met == met_before && depth != 0 && depth <= depth_before &&
           slot == (depth < depth_before ? path_before[depth] : slot_before) + 1 &&
           (any_depth >= depth || path[any_depth] == path_before[any_depth]);
}
