/* Work is nothing again: what reclaim.c makes of it is meant for prune_pick alone. */
#undef ADAMB_WORK
#define ADAMB_WORK() ((void)0)
