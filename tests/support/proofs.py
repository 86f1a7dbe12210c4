"""The proofs: which harness of tests/proof, what it covers, for which limits. Run by `python tests prove`."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Proof:
    harness: str
    entry: str  # the function of the harness, without its prefix prove_
    function: str  # of the core
    what: str
    limits: str = "any block"
    rounds: int = 17  # more than any loop makes that is not cut; the tool checks that
    d_s: int = 0  # 0: the held step, which has no state
    d_a: int = 0  # 0: all dimensions and steps in one proof
    slow: bool = False


INSIDE = "inside the block"
KEEPS = "inside, keeps the sealed words"
ANYTHING = "any content, any words"

_ACT = (
    Proof("act", "act_behind_the_seal", "adamb_act", "inside block and arrays, changes only state, action, rng"),
    Proof("act", "given_behind_the_seal", "adamb_given", "inside block and arrays, changes only state, action, held"),
    Proof("act", "act_on_a_broken_seal", "adamb_act", "reads nine words, changes none, BAD_BLOCK", "broken seal"),
    Proof("act", "act_without_a_block", "adamb_act", "BAD_ARGUMENT", "null pointers"),
    Proof("act", "usable_reads_the_header", "adamb_config_usable", "reads nine words", "any content"),
)
_WALKS = (
    Proof("value", "find", "adamb_value_find, _cell", INSIDE + ", slot and aux"),
    Proof("value", "value_at", "value_at", INSIDE + ", 15 bits", "any block, 0 to 14 bits"),
    Proof("value", "mean", "adamb_value_mean", INSIDE + ", 15 bits"),
    Proof("value", "refresh_means", "adamb_value_refresh_means", KEEPS, "any block, way of links", slow=True),
    Proof("value", "set", "adamb_value_set", KEEPS + ", depth at most 14", slow=True),
    Proof("value", "holds", "adamb_value_holds", KEEPS),
    Proof("descent", "descend", "adamb_tree_descend", KEEPS + ", finds links or none", rounds=5),
    Proof("descent", "follow", "adamb_learn_follow", KEEPS, rounds=5),
    Proof("pool", "alloc", "adamb_pool_alloc", KEEPS + ", gives a unit of the pool", rounds=3),
    Proof("pool", "release", "adamb_pool_free", KEEPS, "any block, any number", rounds=3),
)
_SCAN = Proof(
    "scan", "scan", "adamb_tree_scan", INSIDE + ", level at most the finest", "1+1, any block", d_s=1, d_a=1, slow=True
)
_DIMENSIONS = [(d_s, d_a) for d_s in (0, 1, 2, 3) for d_a in (1, 2, 3)]
_SCANS = tuple(replace(_SCAN, limits=f"{d_s}+{d_a}, any block", d_s=d_s, d_a=d_a) for d_s, d_a in _DIMENSIONS)
_OBSERVE = (
    Proof("observe", "observe", "adamb_observe", KEEPS + ", ends"),
    Proof("observe", "learn_tracking", "learn_tracking", KEEPS),
    Proof("observe", "learn_held", "learn_held", KEEPS),
    Proof("observe", "reclaim", "reclaim", KEEPS),
    Proof("observe", "adapt_step", "adamb_adapt_step", KEEPS),
    Proof("observe", "end_episode", "adamb_end_episode", KEEPS + ", ends"),
    Proof("observe", "restart", "adamb_adapt_restart", KEEPS + ", ends", rounds=20, slow=True),
    Proof("observe", "init_whole", "adamb_init", INSIDE + ", ends", "any configuration, words"),
    Proof(
        "observe",
        "calls_on_a_broken_seal",
        "adamb_observe, _end_episode",
        "reads the header, changes nothing",
        "broken seal, null pointers",
    ),
)
_CHECK = (
    Proof("check", "check", "adamb_check", INSIDE + ", accepts only sound sealed words", ANYTHING),
    Proof("check", "walk_value", "walk_value of adamb_check", INSIDE + ", ends", slow=True),
    Proof("check", "walk_tree", "walk_tree, walk_counts", INSIDE + ", ends"),
    Proof("header", "accepted_header", "adamb_words_header", "accepts only sound sealed words", ANYTHING, 33),
    Proof("header", "words_of_a_unit", "adamb_words_record, _counts", INSIDE, rounds=33),
    Proof("header", "words_of_a_cell", "adamb_words_cell", INSIDE, rounds=33),
    Proof(
        "header",
        "init",
        "adamb_config_write_header",
        "writes sound sealed words",
        "any configuration, words",
        33,
        slow=True,
    ),
)
_LEARN = (
    Proof("learn", "sample", "adamb_learn_sample", KEEPS, slow=True),
    Proof("learn", "gather_above", "gather_above", INSIDE + ", ends"),
    Proof("learn", "update", "update, model_*", KEEPS, slow=True),
    Proof("learn", "request", "request", KEEPS),
    Proof("learn", "split", "split, adamb_tree_split", KEEPS, slow=True),
    Proof("learn", "jobs", "adamb_learn_jobs", KEEPS),
)
_COUNTS = (
    Proof("counts", "expect", "adamb_counts_expect", INSIDE + ", 15 bits in tracking", slow=True),
    Proof("counts", "halve", "halve", KEEPS, rounds=6),
    Proof("counts", "entry", "find_entry", KEEPS, rounds=6),
    Proof("counts", "add", "adamb_counts_add", KEEPS, rounds=6),
    Proof("counts", "free", "adamb_counts_free", KEEPS, rounds=6),
    Proof("counts", "fold", "adamb_counts_fold", KEEPS, rounds=6),
)
_RECLAIM = (
    Proof("reclaim", "fold_leaf", "fold of reclaim_tree", KEEPS),
    Proof("reclaim", "remove", "remove_block", KEEPS, rounds=6),
    Proof("reclaim", "pick", "pick", INSIDE + ", finds links or none", rounds=6),
    Proof("reclaim", "tree", "reclaim_tree", KEEPS + ", ends", rounds=6),
    Proof("reclaim", "pick_node", "prune_pick", INSIDE + ", ends, a way of links", slow=True),
    Proof("reclaim", "join", "prune_join", KEEPS, "any block, way of links"),
)
_RANK = (
    Proof("rank", "start", "adamb_rank_start", INSIDE),
    Proof("rank", "ball", "adamb_rank_ball", INSIDE + ", sums of 28 bits"),
    Proof("rank", "end", "rank_end", KEEPS),
)
_SNAPSHOT = (
    Proof("snapshot", "restore", "adamb_snapshot_restore", "inside bytes and block", "any bytes, length, block", 3),
    Proof("snapshot", "write", "adamb_snapshot_write", "inside block and pieces", "any block", 3),
    Proof("snapshot", "read", "adamb_snapshot_read", "inside pieces and block, ends", "any pieces, block", 3),
    Proof("snapshot", "save", "adamb_snapshot_save, _head", "inside block and bytes", "any block, any capacity", 3),
)
_GUARD = (
    Proof("guard", "slice_of_values", "scrub_value of adamb_scrub", INSIDE + ", ends"),
    Proof("guard", "slice_of_a_record", "scrub_record", INSIDE + ", ends"),
    Proof("guard", "slice_of_balls", "scrub_ball", INSIDE + ", ends", rounds=6),
    Proof("guard", "scrub", "adamb_scrub", INSIDE, ANYTHING, rounds=6),
    Proof(
        "guard", "guard", "adamb_guard_*", "leaves a sound block or says why not", "any code, block, store", slow=True
    ),
)
_STORAGE = "any geometry, any storage"
_STORE = (
    Proof("store", "read_heads", "read_heads of the store", "inside heads", _STORAGE),
    Proof("store", "read_snapshot", "read_snapshot", "inside page and block, ends", _STORAGE),
    Proof("store", "search", "find", "inside heads, ends", _STORAGE),
    Proof("store", "open", "adamb_store_open", "inside heads, ends", _STORAGE),
    *(
        Proof("store", entry, "adamb_store_open", "the store is one that the others allow", limits)
        for entry, limits in (
            ("open_flash", "page 256, sector 4096"),
            ("open_large", "page 8, sector 131072"),
            ("open_eeprom", "page 32, sector 32"),
        )
    ),
    Proof("store", "erase_group", "erase_group", "ends", _STORAGE),
    Proof("store", "is_blank", "is_blank", "inside page, ends", _STORAGE),
    Proof("store", "write_slot", "write_slot", "inside page, heads and block, ends", _STORAGE),
    Proof("store", "store_save", "adamb_store_save", "inside, ends", _STORAGE),
    Proof("store", "store_restore", "adamb_store_restore", "inside, ends; a block with sound sealed words", _STORAGE),
)
_CODES = tuple(
    Proof("code", entry, function, what, limits)
    for entry, function, what, limits in (
        ("pack", "adamb_code_pack", "inside an array of d words", "any point, 1 to 3 dims"),
        ("unpack", "adamb_code_unpack", "inside an array of d words", "any code, 1 to 3 dims"),
        ("unpack_then_pack", "adamb_code_pack, _unpack", "the same code again", "any code, 1 to 3 dims"),
        ("path", "adamb_code_path", "every slot number is one of its block", "any codes, any dims and L"),
        ("centre", "adamb_code_centre", "no bad shift, never 0", "any code, every level"),
        ("inside", "adamb_code_inside", "no bad shift", "any codes, 1 to 3 dims"),
    )
)
_NUMBERS = tuple(
    Proof("number", entry, function, what, limits, rounds=34)
    for entry, function, what, limits in (
        ("divide", "adamb_number_divide", "ends after 32 rounds, at most the number", "any number, not by 0"),
        ("divide_small", "adamb_number_divide", "the quotient", "8 bits, not by 0"),
        ("shift", "adamb_number_shift", "ends, 128 to 255 after it", "any total but 0"),
        ("mean_of_four", "adamb_number_shift, shifted", "124 to 255 in all after it", "four weights of 15 bits"),
        ("mean", "adamb_number_mean", "inside its table, 30 bits, a mean of 15", "total 124 to 255"),
        ("product", "weight * value", "at most weight * VALUE_MAX", "8 and 15 bits"),
        ("bonus", "adamb_number_bonus", "inside its table, no bad shift", "16 bits, any weight"),
        ("random_is_never_0", "adamb_number_random", "0 only after 0", "any state"),
        ("follow_has_room", "adamb_number_dithered_mean", "no overflow, dither below n", "n 1 to 8191"),
        ("blend", "adamb_number_blend", "30 bits, ends", "weights of SPEC 4.9, not by 0"),
        ("drift", "adamb_number_moving_average", "between mean and value", "16 bits, shift 1 to 15"),
        ("initial", "adamb_number_initial", "15 bits", "every horizon and step"),
    )
)
PROOFS = (
    *_ACT, *_WALKS, *_SCANS, *_RANK, *_LEARN, *_COUNTS, *_RECLAIM, *_OBSERVE, *_CHECK, *_SNAPSHOT,
    *_GUARD, *_STORE, *_CODES, *_NUMBERS,
)  # fmt: skip
