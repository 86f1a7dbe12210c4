/* The nodes of one learner's trees: allocation, splitting, merging, and the walk over relevant balls. */
#ifndef BASELINES_TREE_POOL_H
#define BASELINES_TREE_POOL_H
#include "baselines/common.h"
#include "baselines/tree.h"

enum { BASELINES_LEVELS = 20, BASELINES_STACK = BASELINES_LEVELS * 8 };

/* Ways to divide a node: not at all, along all sides, along the state side, along the action side. */
enum { BASELINES_LEAF, BASELINES_WHOLE, BASELINES_STATE, BASELINES_ACTION, BASELINES_KINDS };

typedef struct {
    int32_t child; /* first of the children */
    int32_t n;
    int32_t seen; /* when it was last played */
    int32_t kind;
} baselines_node;

/* A node and where it lies. `part` is a state side whose action side is not divided yet. */
typedef struct {
    int32_t node;
    int32_t level;
    int32_t part;
    uint32_t action[BASELINES_MAX_DIM];
} baselines_place;

typedef struct {
    baselines_node *nodes;
    double *q; /* `values` numbers per node */
    int32_t capacity, top, live, peak, inner;
    int32_t free_block[BASELINES_KINDS];
    int32_t clock;
    int64_t refused, merges;
    sim_rng rng;
    baselines_place *played; /* per step */
} baselines_learner;

struct baselines_tree {
    baselines_tree_config config;
    int32_t roots, values;
    int32_t fan[BASELINES_KINDS]; /* children by kind */
    double threshold[BASELINES_LEVELS + 1];
    baselines_learner *learners;
};

typedef struct {
    const baselines_tree *tree;
    const baselines_learner *learner;
    uint32_t state[BASELINES_MAX_DIM];
    baselines_place stack[BASELINES_STACK];
    int depth;
} baselines_walk;

/* Start at a root for the leaves whose state side holds the point; 0 from next when there are no more. */
void baselines_walk_start(baselines_walk *walk, const baselines_tree *tree, const baselines_learner *learner, int root,
                       const double *state);
int baselines_walk_next(baselines_walk *walk, baselines_place *leaf);

/* Children inherit Q and n. 1 when done, 0 when there is no room (counted), -1 when memory ran out. */
int baselines_split(const baselines_tree *tree, baselines_learner *learner, int32_t node, int kind);

int baselines_reserve(const baselines_tree *tree, baselines_learner *learner, int32_t nodes); /* 0: out of memory */

#endif
