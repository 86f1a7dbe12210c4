/* What holds of a store and of the heads of a save; in front of the first function, behind the names of their parts. */

/* What open leaves: a slot has room for the heads, and every step of a loop goes on. */
static int store_ok(const adamb_store *s)
{
    const adamb_flash *f = s->flash;
    return f->page_bytes >= 1 && f->sector_bytes >= f->page_bytes && f->sector_bytes <= 0x10000000u &&
           s->slot_bytes >= HEADS && s->slot_bytes <= 0x20000000u && s->group_bytes <= 0x40000000u && s->group_slots >= 1 &&
           s->slots <= 0x7FFFFFFFu;
}

/* A save that was found has a head that says how long it is. */
static int heads_ok(const adamb_store *s, const uint8_t *heads)
{
    return adamb_snapshot_get32(heads + AT_BYTES) <= s->slot_bytes - HEAD;
}
