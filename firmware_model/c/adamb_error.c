/* Codes in words. Nothing in the core calls this. */
#include "adamb_guard.h"
#include "adamb_snapshot.h"

#ifndef ADAMB_NO_ERROR_TEXT
const char *adamb_error_text(int code)
{
    switch (code) {
    case ADAMB_OK:
        return "no error";
    case ADAMB_BAD_ARGUMENT:
        return "null pointer, or step outside the horizon";
    case ADAMB_BAD_CONFIG:
        return "configuration outside its limits";
    case ADAMB_NO_MEMORY:
        return "not enough memory";
    case ADAMB_BAD_BLOCK:
        return "not a block of this version, or damaged";
    case ADAMB_BAD_ORDER:
        return "observe without act";
    case ADAMB_STORE_EMPTY:
        return "no completed save in the store";
    case ADAMB_STORE_DEVICE:
        return "the storage failed";
    case ADAMB_BAD_DIMENSIONS:
        return "a save of other dimensions or another horizon";
    default:
        return "not an error code";
    }
}
#endif
