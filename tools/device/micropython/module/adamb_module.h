/* The C core as the MicroPython module `adamb`: what its files share.
 *
 * The same files make a user C module, which is built into a firmware, and a native .mpy file, which any firmware of
 * the same processor family loads (MICROPY_ENABLE_DYNRUNTIME). A .mpy file may call only what py/dynruntime.h offers, and
 * its tables are filled in when it is loaded; the rest is the same. */
#ifndef ADAMB_MODULE_H
#define ADAMB_MODULE_H

#ifdef MICROPY_ENABLE_DYNRUNTIME
#include "py/dynruntime.h"
typedef mp_obj_full_type_t adamb_module_type;
#define mp_call_method_n_kw(n, kw, args) (mp_fun_table.call_method_n_kw((n), (kw), (args)))
#else
#include "py/objarray.h"
#include "py/objexcept.h"
#include "py/runtime.h"
typedef const mp_obj_type_t adamb_module_type;
#endif

#include "adamb.h"
#include "adamb_spec.h"

extern adamb_module_type adamb_type_config, adamb_type_controller, adamb_type_store, adamb_type_guard, adamb_type_unit;
extern adamb_module_type adamb_type_class, adamb_type_error, adamb_type_replaced;

#define ADAMB_TYPE(name) ((const mp_obj_type_t *)&adamb_type_##name)

/* A block of words that a program gave, by the buffer protocol; anything but array('H') is a TypeError. */
typedef struct {
    uint16_t *w;
    uint32_t words;
} adamb_words;

adamb_words adamb_module_words(mp_obj_t block);

/* True if the words are there that the header of the block says it has: the core takes that for granted. */
bool adamb_module_holds(adamb_words block);

/* A number of 0 to 65535, or -1 for any other number. */
int32_t adamb_module_number(mp_obj_t value);

/* Read a configuration from any object with the attributes of Config: 0 or BAD_CONFIG. */
int adamb_module_config(mp_obj_t from, adamb_config *config);

/* Set a field of a Config; an AttributeError where there is none of that name. */
void adamb_module_set(mp_obj_t config, mp_obj_t name, mp_obj_t value);

/* The calls of core.Controller. */
mp_obj_t adamb_module_act(size_t n, const mp_obj_t *args);
mp_obj_t adamb_module_given(size_t n, const mp_obj_t *args);
mp_obj_t adamb_module_observe(size_t n, const mp_obj_t *args);
mp_obj_t adamb_module_end_episode(mp_obj_t self);

/* The result of core.init and core.attach: a controller, or a code. */
mp_obj_t adamb_module_init(mp_obj_t config, mp_obj_t block);
mp_obj_t adamb_module_attach(mp_obj_t block);

/* The functions of the module; adamb_module.c says under which names. */
extern const mp_obj_fun_builtin_fixed_t adamb_init_obj, adamb_attach_obj, adamb_required_words_obj, adamb_thresholds_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_end_episode_obj, adamb_check_obj, adamb_stats_obj;
extern const mp_obj_fun_builtin_var_t adamb_act_obj, adamb_given_obj, adamb_observe_obj, adamb_guard_open_obj;
extern const mp_obj_fun_builtin_var_t adamb_class_act_obj, adamb_class_given_obj, adamb_class_observe_obj, adamb_class_save_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_class_end_episode_obj, adamb_class_tick_obj, adamb_class_stats_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_class_restore_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_snapshot_bytes_obj, adamb_snapshot_save_obj, adamb_snapshot_restore_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_snapshot_write_obj, adamb_snapshot_read_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_store_open_obj, adamb_store_save_obj, adamb_store_restore_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_guard_handle_obj, adamb_guard_tick_obj, adamb_guard_save_obj;
extern const mp_obj_fun_builtin_fixed_t adamb_unit_init_obj, adamb_unit_code_obj, adamb_unit_value_obj;

mp_obj_t adamb_config_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args);
mp_obj_t adamb_class_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args);
mp_obj_t adamb_unit_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args);
void adamb_class_attr(mp_obj_t self, qstr name, mp_obj_t *dest);
void adamb_config_attr(mp_obj_t self, qstr name, mp_obj_t *dest);
void adamb_controller_attr(mp_obj_t self, qstr name, mp_obj_t *dest);
void adamb_store_attr(mp_obj_t self, qstr name, mp_obj_t *dest);
void adamb_guard_attr(mp_obj_t self, qstr name, mp_obj_t *dest);
void adamb_unit_attr(mp_obj_t self, qstr name, mp_obj_t *dest);

#endif
