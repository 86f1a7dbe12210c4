/* The nodes of one learner's trees: allocation, splitting, merging, and the walk over relevant balls. */
#ifndef RIVALS_TREE_POOL_H
#define RIVALS_TREE_POOL_H
#include "rivals/common.h"
#include "rivals/tree.h"

enum { RIVALS_LEVELS = 20, RIVALS_STACK = RIVALS_LEVELS * 8 };

/* How a node is divided: not at all, along all sides, along the state side, along the action side. */
enum { RIVALS_LEAF, RIVALS_WHOLE, RIVALS_STATE, RIVALS_ACTION, RIVALS_KINDS };

typedef struct {
    int32_t child; /* first of the children */
    int32_t n;
    int32_t seen; /* when it was last played */
    int32_t kind;
} rivals_node;

/* A node and where it lies. `part` is a state side whose action side is not divided yet. */
typedef struct {
    int32_t node;
    int32_t level;
    int32_t part;
    uint32_t action[RIVALS_MAX_DIM];
} rivals_place;

typedef struct {
    rivals_node *nodes;
    double *q; /* `values` numbers per node */
    int32_t capacity, top, live, peak, inner;
    int32_t free_block[RIVALS_KINDS];
    int32_t clock;
    int64_t refused, merges;
    sim_rng rng;
    rivals_place *played; /* per step */
} rivals_learner;

struct rivals_tree {
    rivals_tree_config config;
    int32_t roots, values;
    int32_t fan[RIVALS_KINDS]; /* children by kind */
    double threshold[RIVALS_LEVELS + 1];
    rivals_learner *learners;
};

typedef struct {
    const rivals_tree *tree;
    const rivals_learner *learner;
    uint32_t state[RIVALS_MAX_DIM];
    rivals_place stack[RIVALS_STACK];
    int depth;
} rivals_walk;

/* Start at a root for the leaves whose state side holds the point; 0 from next when there are no more. */
void rivals_walk_start(rivals_walk *walk, const rivals_tree *tree, const rivals_learner *learner, int root,
                       const double *state);
int rivals_walk_next(rivals_walk *walk, rivals_place *leaf);

/* Children inherit Q and n. 1 when done, 0 when there is no room (counted), -1 when memory ran out. */
int rivals_split(const rivals_tree *tree, rivals_learner *learner, int32_t node, int kind);

int rivals_reserve(const rivals_tree *tree, rivals_learner *learner, int32_t nodes); /* 0: out of memory */

#endif
