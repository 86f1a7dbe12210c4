/* The MicroPython module `adamb`: snapshots, the store and the guard.
 *
 * Storage is an object of the program: the store calls its read, prog and erase. The guard takes any object with save
 * and restore, of this module or of the program, as that of the Python core does. */
#include "adamb_guard.h"
#include "adamb_internal.h"
#include "adamb_module.h"
#include "adamb_snapshot.h"

typedef struct {
    mp_obj_base_t base;
    adamb_flash flash;
    adamb_store store;
} store_obj;

typedef struct {
    mp_obj_base_t base;
    mp_obj_t config, block, store, controller;
    adamb_place place;
    uint16_t damages, restored, reinitialised, passes;
} guard_obj;

static mp_obj_t snapshot_bytes(mp_obj_t block)
{
    adamb_words found = adamb_module_words(block);
    return MP_OBJ_NEW_SMALL_INT(adamb_module_holds(found) ? adamb_snapshot_bytes(found.w) : ADAMB_BAD_BLOCK);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_snapshot_bytes_obj, snapshot_bytes);

static mp_obj_t snapshot_save(mp_obj_t block, mp_obj_t out)
{
    mp_buffer_info_t info;
    adamb_words found = adamb_module_words(block);
    mp_get_buffer_raise(out, &info, MP_BUFFER_WRITE);
    bool holds = adamb_module_holds(found);
    return MP_OBJ_NEW_SMALL_INT(holds ? adamb_snapshot_save(found.w, info.buf, (uint32_t)info.len) : ADAMB_BAD_BLOCK);
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_snapshot_save_obj, snapshot_save);

static mp_obj_t snapshot_restore(mp_obj_t data, mp_obj_t from, mp_obj_t block)
{
    mp_buffer_info_t info;
    adamb_config config;
    adamb_words found = adamb_module_words(block);
    int code = adamb_module_config(from, &config);
    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    code = code < 0 ? code : adamb_snapshot_restore(info.buf, (uint32_t)info.len, &config, found.w, found.words);
    return MP_OBJ_NEW_SMALL_INT(code);
}
MP_DEFINE_CONST_FUN_OBJ_3(adamb_snapshot_restore_obj, snapshot_restore);

/* Whether a method of a file takes or fills all of these bytes. */
static bool file_call(mp_obj_t file, qstr name, const uint8_t *data, uint32_t bytes)
{
    mp_obj_t call[3];
    mp_load_method(file, name, call);
    call[2] = mp_obj_new_bytearray_by_ref(bytes, (void *)data);
    mp_obj_t count = mp_call_method_n_kw(1, 0, call);
    return mp_obj_is_small_int(count) && MP_OBJ_SMALL_INT_VALUE(count) == (mp_int_t)bytes;
}

static int file_write(void *file, const uint8_t *data, uint32_t bytes)
{
    return file_call((mp_obj_t)file, MP_QSTR_write, data, bytes) ? 0 : ADAMB_STORE_DEVICE;
}

static int file_read(void *file, uint32_t at, uint8_t *data, uint32_t bytes)
{
    mp_obj_t seek[3];
    mp_load_method((mp_obj_t)file, MP_QSTR_seek, seek);
    seek[2] = mp_obj_new_int_from_uint(at);
    mp_call_method_n_kw(1, 0, seek);
    return file_call((mp_obj_t)file, MP_QSTR_readinto, data, bytes) ? 0 : ADAMB_STORE_DEVICE;
}

static mp_obj_t snapshot_write(mp_obj_t block, mp_obj_t file)
{
    adamb_words found = adamb_module_words(block);
    bool holds = adamb_module_holds(found);
    return MP_OBJ_NEW_SMALL_INT(holds ? adamb_snapshot_write(found.w, file_write, (void *)file) : ADAMB_BAD_BLOCK);
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_snapshot_write_obj, snapshot_write);

static mp_obj_t snapshot_read(mp_obj_t file, mp_obj_t from, mp_obj_t block)
{
    adamb_config config;
    adamb_words found = adamb_module_words(block);
    int code = adamb_module_config(from, &config);
    code = code < 0 ? code : adamb_snapshot_read(file_read, (void *)file, &config, found.w, found.words);
    return MP_OBJ_NEW_SMALL_INT(code);
}
MP_DEFINE_CONST_FUN_OBJ_3(adamb_snapshot_read_obj, snapshot_read);

/* Call a method of the program's storage: 0 for 0 or None, its number, or 1 for anything else. */
static int flash_call(void *flash, qstr name, uint32_t address, void *data, uint32_t bytes)
{
    mp_obj_t call[4];
    mp_load_method((mp_obj_t)flash, name, call);
    call[2] = mp_obj_new_int_from_uint(address);
    if (data != 0) {
        call[3] = mp_obj_new_bytearray_by_ref(bytes, data);
    }
    mp_obj_t code = mp_call_method_n_kw(data != 0 ? 2 : 1, 0, call);
    return mp_obj_is_small_int(code) ? (int)MP_OBJ_SMALL_INT_VALUE(code) : mp_obj_is_true(code);
}

static int flash_read(void *context, uint32_t address, uint8_t *data, uint32_t bytes)
{
    return flash_call(context, MP_QSTR_read, address, data, bytes);
}

static int flash_prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    return flash_call(context, MP_QSTR_prog, address, (void *)data, bytes);
}

static int flash_erase(void *context, uint32_t address)
{
    return flash_call(context, MP_QSTR_erase, address, 0, 0);
}

static mp_obj_t store_open(mp_obj_t flash, mp_obj_t words)
{
    mp_int_t page = mp_obj_get_int(mp_load_attr(flash, MP_QSTR_page_bytes));
    mp_int_t sector = mp_obj_get_int(mp_load_attr(flash, MP_QSTR_sector_bytes));
    mp_int_t sectors = mp_obj_get_int(mp_load_attr(flash, MP_QSTR_sectors));
    mp_int_t size = mp_obj_get_int(words);
    if (page < 1 || page > sector || sectors < 0 || size < 0) {
        return MP_OBJ_NEW_SMALL_INT(ADAMB_BAD_CONFIG);
    }
    store_obj *self = mp_obj_malloc(store_obj, ADAMB_TYPE(store));
    self->flash.context = (void *)flash;
    self->flash.page_bytes = (uint32_t)page;
    self->flash.sector_bytes = (uint32_t)sector;
    self->flash.sectors = (uint32_t)sectors;
    self->flash.read = flash_read;
    self->flash.prog = flash_prog;
    self->flash.erase = flash_erase;
    int code = adamb_store_open(&self->store, &self->flash, m_new(uint8_t, (size_t)page), (uint32_t)size);
    return code == ADAMB_BAD_CONFIG ? MP_OBJ_NEW_SMALL_INT(code) : MP_OBJ_FROM_PTR(self); /* else it looks again */
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_store_open_obj, store_open);

static mp_obj_t store_save(mp_obj_t self, mp_obj_t block)
{
    adamb_words found = adamb_module_words(block);
    adamb_store *store = &((store_obj *)MP_OBJ_TO_PTR(self))->store;
    return MP_OBJ_NEW_SMALL_INT(adamb_module_holds(found) ? adamb_store_save(store, found.w) : ADAMB_BAD_BLOCK);
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_store_save_obj, store_save);

static mp_obj_t store_restore(mp_obj_t self, mp_obj_t from, mp_obj_t block)
{
    adamb_config config;
    adamb_words found = adamb_module_words(block);
    adamb_store *store = &((store_obj *)MP_OBJ_TO_PTR(self))->store;
    int code = adamb_module_config(from, &config);
    return MP_OBJ_NEW_SMALL_INT(code < 0 ? code : adamb_store_restore(store, &config, found.w, found.words));
}
MP_DEFINE_CONST_FUN_OBJ_3(adamb_store_restore_obj, store_restore);

void adamb_store_attr(mp_obj_t self, qstr name, mp_obj_t *dest)
{
    const store_obj *object = MP_OBJ_TO_PTR(self);
    if (dest[0] != MP_OBJ_NULL) {
        return;
    }
    if (name == MP_QSTR_sequence) {
        dest[0] = mp_obj_new_int_from_uint(object->store.sequence);
    } else if (name == MP_QSTR_flash) {
        dest[0] = (mp_obj_t)object->flash.context;
    } else {
        dest[1] = MP_OBJ_SENTINEL;
    }
}

/* Call save(block) or restore(config, block) of the store, which may be the program's own. */
static int store_call(const guard_obj *self, qstr name)
{
    mp_obj_t call[4];
    size_t n = name == MP_QSTR_restore ? 2 : 1;
    mp_load_method(self->store, name, call);
    call[2] = self->config;
    call[1 + n] = self->block;
    return (int)mp_obj_get_int(mp_call_method_n_kw(n, 0, call));
}

/* Restore the newest save that fits the configuration, else initialise. */
static int guard_begin(guard_obj *self)
{
    static const adamb_place start = {0, 0, 0};
    self->place = start;
    if (self->store != mp_const_none && store_call(self, MP_QSTR_restore) == 0) {
        adamb_config config;
        mp_obj_t made = adamb_module_attach(self->block);
        uint16_t *w = adamb_module_words(self->block).w; /* after the program's own code, which may have moved it */
        if (!mp_obj_is_small_int(made) && adamb_module_config(self->config, &config) == 0 &&
            w[ADAMB_H_DIMS] == adamb_config_dims(&config)) {
            for (uint32_t h = 0; h < config.horizon; h++) { /* pending when it was saved */
                w[adamb_call_step(w, h) + ADAMB_S_ACTION] = 0;
            }
            self->controller = made;
            return ADAMB_GUARD_RESTORED;
        }
    }
    mp_obj_t made = adamb_module_init(self->config, self->block);
    if (mp_obj_is_small_int(made)) {
        adamb_words block = adamb_module_words(self->block);
        if (block.words > ADAMB_H_MAGIC) {
            block.w[ADAMB_H_MAGIC] = 0; /* whatever it held is not for this program: every call refuses it */
        }
        return (int)MP_OBJ_SMALL_INT_VALUE(made);
    }
    self->controller = made;
    return ADAMB_GUARD_REINITIALISED;
}

static mp_obj_t guard_open(size_t n, const mp_obj_t *args)
{
    guard_obj *self = mp_obj_malloc(guard_obj, ADAMB_TYPE(guard));
    self->config = args[0];
    self->block = args[1];
    self->store = n > 2 ? args[2] : mp_const_none;
    self->controller = mp_const_none;
    self->damages = self->restored = self->reinitialised = self->passes = 0;
    int code = guard_begin(self);
    return code < 0 ? MP_OBJ_NEW_SMALL_INT(code) : MP_OBJ_FROM_PTR(self);
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_guard_open_obj, 2, 3, guard_open);

static mp_obj_t handled(guard_obj *self, int code)
{
    if (code == ADAMB_BAD_BLOCK) {
        saturating_inc(&self->damages, 0);
        code = guard_begin(self);
        if (code > 0) {
            saturating_inc(code == ADAMB_GUARD_RESTORED ? &self->restored : &self->reinitialised, 0);
        }
    }
    return MP_OBJ_NEW_SMALL_INT(code);
}

static mp_obj_t guard_handle(mp_obj_t self, mp_obj_t code)
{
    return handled(MP_OBJ_TO_PTR(self), (int)mp_obj_get_int(code));
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_guard_handle_obj, guard_handle);

static mp_obj_t guard_tick(mp_obj_t self_in)
{
    guard_obj *self = MP_OBJ_TO_PTR(self_in);
    adamb_words block = adamb_module_words(self->block);
    int code = block.words < ADAMB_H_WORDS ? ADAMB_BAD_ARGUMENT : adamb_scrub(block.w, block.words, &self->place);
    if (code == 1) {
        saturating_inc(&self->passes, 0);
        code = 0;
    }
    return handled(self, code);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_guard_tick_obj, guard_tick);

static mp_obj_t guard_save(mp_obj_t self_in)
{
    guard_obj *self = MP_OBJ_TO_PTR(self_in);
    bool stored = self->store != mp_const_none;
    return stored ? handled(self, store_call(self, MP_QSTR_save)) : MP_OBJ_NEW_SMALL_INT(ADAMB_STORE_EMPTY);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_guard_save_obj, guard_save);

void adamb_guard_attr(mp_obj_t self_in, qstr name, mp_obj_t *dest)
{
    const guard_obj *self = MP_OBJ_TO_PTR(self_in);
    if (dest[0] != MP_OBJ_NULL) {
        return;
    }
    const uint16_t *counter = name == MP_QSTR_damages         ? &self->damages
                              : name == MP_QSTR_restored      ? &self->restored
                              : name == MP_QSTR_reinitialised ? &self->reinitialised
                              : name == MP_QSTR_passes        ? &self->passes
                                                              : 0;
    if (counter != 0) {
        dest[0] = MP_OBJ_NEW_SMALL_INT(*counter);
    } else if (name == MP_QSTR_config) {
        dest[0] = self->config;
    } else if (name == MP_QSTR_block) {
        dest[0] = self->block;
    } else if (name == MP_QSTR_store) {
        dest[0] = self->store;
    } else if (name == MP_QSTR_controller) {
        dest[0] = self->controller;
    } else {
        dest[1] = MP_OBJ_SENTINEL;
    }
}
