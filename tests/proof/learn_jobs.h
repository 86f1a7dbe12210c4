/* Behind split, request is itself again: prove_request is about it. */
#undef request
