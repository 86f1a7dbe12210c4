/* A small flash that tears what is being written when power is lost. Misuse by the store, a page written twice or an
 * address outside, goes to `sim_misuse`, which the includer defines. */
#ifndef SIM_FLASH_H
#define SIM_FLASH_H
#include <stdint.h>
#include <string.h>
#include "adamb_store.h"
#include "draw.h"

enum { SIM_TEARS = 5, SIM_SPACE = 1 << 14 };

typedef struct {
    adamb_flash face;
    uint8_t data[SIM_SPACE];
    uint8_t written[SIM_SPACE];      /* by page: since the last erase */
    uint32_t operations, cut_at; /* of prog and erase; power is lost in operation cut_at, counted from 1; 0: never */
    uint32_t random;
    int tear, dead;
} sim_flash;

static void sim_misuse(const char *what);

/* What a cut leaves of `size` bytes that were to become `wanted`: nothing, a part, some bits, everything, or garbage. */
static void sim_torn(sim_flash *f, uint8_t *old, const uint8_t *wanted, uint32_t size)
{
    uint32_t part = draw(&f->random) % (size + 1);
    for (uint32_t i = 0; i < size; i++) {
        uint8_t mask = (uint8_t)draw(&f->random), new_byte = wanted == 0 ? 0xFF : wanted[i];
        uint8_t some = (uint8_t)((old[i] & ~mask) | (new_byte & mask));
        uint8_t left[SIM_TEARS] = {old[i], i < part ? new_byte : old[i], some, new_byte, mask};
        old[i] = left[f->tear];
    }
}

/* 0 without power; counts the operation, and this may be the one that power is lost in. */
static int sim_powered(sim_flash *f)
{
    if (f->dead) {
        return 0;
    }
    f->operations++;
    f->dead = f->operations == f->cut_at;
    return 1;
}

static int sim_read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    sim_flash *f = context;
    uint32_t space = f->face.sector_bytes * f->face.sectors;
    if (bytes > space || address > space - bytes) {
        sim_misuse("read outside the storage");
    }
    if (f->dead) {
        return -1;
    }
    memcpy(data, f->data + address, bytes);
    return 0;
}

static int sim_prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    sim_flash *f = context;
    uint32_t page = address / f->face.page_bytes, sector = address / f->face.sector_bytes;
    if (address % f->face.page_bytes != 0 || bytes != f->face.page_bytes || sector >= f->face.sectors) {
        sim_misuse("prog of something that is not a page");
    }
    if (!sim_powered(f)) {
        return -1;
    }
    if (f->written[page]) {
        sim_misuse("page written twice without an erase");
    }
    if (f->dead) {
        sim_torn(f, f->data + address, data, bytes);
        for (uint32_t i = 0; i < bytes; i++) { /* a page that reads as erased cannot be told from one never written */
            f->written[page] |= f->data[address + i] != 0xFF;
        }
        return -1;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        f->data[address + i] &= data[i];
    }
    f->written[page] = 1;
    return 0;
}

static int sim_erase(void *context, uint32_t address)
{
    sim_flash *f = context;
    uint32_t size = f->face.sector_bytes, sector = address / size, pages = size / f->face.page_bytes;
    if (address % size != 0 || sector >= f->face.sectors) {
        sim_misuse("erase of something that is not a sector");
    }
    if (!sim_powered(f)) {
        return -1;
    }
    if (f->dead) {
        sim_torn(f, f->data + address, 0, size);
    } else {
        memset(f->data + address, 0xFF, size);
    }
    memset(f->written + address / f->face.page_bytes, f->dead, pages);
    return f->dead ? -1 : 0;
}

/* After the content was changed from outside: a page that reads as erased cannot be told from one that is. */
static inline void sim_settle(sim_flash *f)
{
    for (uint32_t i = 0; i < f->face.sector_bytes * f->face.sectors; i++) {
        uint32_t page = i / f->face.page_bytes;
        f->written[page] = (uint8_t)((i % f->face.page_bytes != 0 && f->written[page]) || f->data[i] != 0xFF);
    }
}

/* A storage on which nothing is known to be erased; its content is the caller's. */
static void sim_setup(sim_flash *f, uint32_t page, uint32_t sector, uint32_t sectors, uint32_t seed)
{
    f->face.context = f;
    f->face.page_bytes = page;
    f->face.sector_bytes = sector;
    f->face.sectors = sectors;
    f->face.read = sim_read;
    f->face.prog = sim_prog;
    f->face.erase = sim_erase;
    f->operations = f->cut_at = 0;
    f->tear = f->dead = 0;
    f->random = seed | 1;
    memset(f->written, 1, sector * sectors / page);
}

/* Power is back. */
static inline void sim_boot(sim_flash *f)
{
    f->dead = 0;
    f->cut_at = 0;
}

#endif
