/* adamb_counts_fold adds entry by entry: from here on by the contract of adamb_counts_add, which prove_add is about. */
#define adamb_counts_add contract_counts_add
