/* A storage in the RAM of an AVR, for a store there. Bits only go from 1 to 0 until they are erased. */
#include <string.h>

#include "adamb_guard.h"

enum { PAGE = 64, SECTOR = 256, SECTORS = 8, WORDS = 384 };

static uint8_t kept[SECTOR * SECTORS];

static int read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    (void)context;
    memcpy(data, kept + address, (size_t)bytes);
    return 0;
}

static int prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) {
        kept[address + i] = (uint8_t)(kept[address + i] & data[i]);
    }
    return 0;
}

static int erase(void *context, uint32_t address)
{
    (void)context;
    memset(kept + address, 0xFF, SECTOR);
    return 0;
}

static const adamb_flash flash = {0, PAGE, SECTOR, SECTORS, read, prog, erase};
static uint8_t page[PAGE];
static adamb_store store;
static adamb_guard guard;
uint16_t block[WORDS];
uint8_t passes, damages, restored;

int begin(const adamb_config *config)
{
    memset(kept, 0xFF, sizeof kept);
    int code = adamb_store_open(&store, &flash, page, WORDS);
    return code < 0 ? code : adamb_guard_open(&guard, config, block, WORDS, &store);
}

int tick(void)
{
    int code = adamb_guard_tick(&guard);
    passes = (uint8_t)guard.passes, damages = (uint8_t)guard.damages, restored = (uint8_t)guard.restored;
    return code;
}

int save(void)
{
    return adamb_guard_save(&guard);
}
