"""Codes in words. Nothing in the core imports this."""

from ._spec import (
    ERR_ARGUMENT,
    ERR_BLOCK,
    ERR_CONFIG,
    ERR_DEVICE,
    ERR_DIMENSIONS,
    ERR_EMPTY,
    ERR_MEMORY,
    ERR_ORDER,
)


def text(code):
    """The meaning of a code in a few words, for any number.

    >>> text(ERR_ORDER)
    'observe without act'
    """
    return {
        0: "no error",
        ERR_ARGUMENT: "null pointer, or step outside the horizon",
        ERR_CONFIG: "configuration outside its limits",
        ERR_MEMORY: "not enough memory",
        ERR_BLOCK: "not a block of this version, or damaged",
        ERR_ORDER: "observe without act",
        ERR_EMPTY: "no completed save in the store",
        ERR_DEVICE: "the storage failed",
        ERR_DIMENSIONS: "a save of other dimensions or another horizon",
    }.get(code, "not an error code")
