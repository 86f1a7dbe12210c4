/* The MicroPython module `adamb`: its names, which are those of the Python package of that name. */
#include "adamb_guard.h"
#include "adamb_module.h"
#include "adamb_snapshot.h"

/* Every name with what it stands for; linked into both forms of the module below. */
#define CORE_NAMES(X)                                                 \
    X(MP_QSTR_init, MP_ROM_PTR(&adamb_init_obj))                      \
    X(MP_QSTR_attach, MP_ROM_PTR(&adamb_attach_obj))                  \
    X(MP_QSTR_required_words, MP_ROM_PTR(&adamb_required_words_obj))  \
    X(MP_QSTR_thresholds, MP_ROM_PTR(&adamb_thresholds_obj))          \
    X(MP_QSTR_Config, MP_ROM_PTR(&adamb_type_config))                 \
    X(MP_QSTR_Controller, MP_ROM_PTR(&adamb_type_controller))         \
    X(MP_QSTR_SPEC_HASH, MP_ROM_INT(ADAMB_SPEC_HASH))                 \
    X(MP_QSTR_LEARNER_HASH, MP_ROM_INT(ADAMB_LEARNER_HASH))
#define CHECK_NAMES(X)                          \
    X(MP_QSTR_check, MP_ROM_PTR(&adamb_check_obj)) \
    X(MP_QSTR_stats, MP_ROM_PTR(&adamb_stats_obj))
#define SNAPSHOT_NAMES(X)                                 \
    X(MP_QSTR_bytes, MP_ROM_PTR(&adamb_snapshot_bytes_obj)) \
    X(MP_QSTR_save, MP_ROM_PTR(&adamb_snapshot_save_obj))   \
    X(MP_QSTR_restore, MP_ROM_PTR(&adamb_snapshot_restore_obj)) \
    X(MP_QSTR_write, MP_ROM_PTR(&adamb_snapshot_write_obj))     \
    X(MP_QSTR_read, MP_ROM_PTR(&adamb_snapshot_read_obj))
#define STORE_NAMES(X)                              \
    X(MP_QSTR_open, MP_ROM_PTR(&adamb_store_open_obj)) \
    X(MP_QSTR_Store, MP_ROM_PTR(&adamb_type_store))
#define GUARD_NAMES(X)                              \
    X(MP_QSTR_open, MP_ROM_PTR(&adamb_guard_open_obj)) \
    X(MP_QSTR_Guard, MP_ROM_PTR(&adamb_type_guard))    \
    X(MP_QSTR_RESTORED, MP_ROM_INT(1))              \
    X(MP_QSTR_REINITIALISED, MP_ROM_INT(2))
#define UNIT_NAMES(X)                              \
    X(MP_QSTR_init, MP_ROM_PTR(&adamb_unit_init_obj)) \
    X(MP_QSTR_Unit, MP_ROM_PTR(&adamb_type_unit))
#define CONTROLLER_NAMES(X)                       \
    X(MP_QSTR_act, MP_ROM_PTR(&adamb_act_obj))         \
    X(MP_QSTR_given, MP_ROM_PTR(&adamb_given_obj)) \
    X(MP_QSTR_observe, MP_ROM_PTR(&adamb_observe_obj)) \
    X(MP_QSTR_end_episode, MP_ROM_PTR(&adamb_end_episode_obj))
#define STORE_METHODS(X)                              \
    X(MP_QSTR_save, MP_ROM_PTR(&adamb_store_save_obj)) \
    X(MP_QSTR_restore, MP_ROM_PTR(&adamb_store_restore_obj))
#define GUARD_METHODS(X)                                  \
    X(MP_QSTR_handle, MP_ROM_PTR(&adamb_guard_handle_obj)) \
    X(MP_QSTR_tick, MP_ROM_PTR(&adamb_guard_tick_obj))     \
    X(MP_QSTR_save, MP_ROM_PTR(&adamb_guard_save_obj))
#define UNIT_METHODS(X)                              \
    X(MP_QSTR_code, MP_ROM_PTR(&adamb_unit_code_obj)) \
    X(MP_QSTR_value, MP_ROM_PTR(&adamb_unit_value_obj))
#define CLASS_METHODS(X)                                      \
    X(MP_QSTR_act, MP_ROM_PTR(&adamb_class_act_obj))                 \
    X(MP_QSTR_given, MP_ROM_PTR(&adamb_class_given_obj))             \
    X(MP_QSTR_observe, MP_ROM_PTR(&adamb_class_observe_obj))         \
    X(MP_QSTR_end_episode, MP_ROM_PTR(&adamb_class_end_episode_obj)) \
    X(MP_QSTR_tick, MP_ROM_PTR(&adamb_class_tick_obj))               \
    X(MP_QSTR_stats, MP_ROM_PTR(&adamb_class_stats_obj))             \
    X(MP_QSTR_save, MP_ROM_PTR(&adamb_class_save_obj))               \
    X(MP_QSTR_restore, MP_ROM_PTR(&adamb_class_restore_obj))
#define NAMES(X)                                                  \
    X(MP_QSTR_Controller, MP_ROM_PTR(&adamb_type_class))                \
    X(MP_QSTR_Error, MP_ROM_PTR(&adamb_type_error))                     \
    X(MP_QSTR_Replaced, MP_ROM_PTR(&adamb_type_replaced))               \
    X(MP_QSTR_Unit, MP_ROM_PTR(&adamb_type_unit))                       \
    X(MP_QSTR_ERR_ARGUMENT, MP_ROM_INT(ADAMB_BAD_ARGUMENT))             \
    X(MP_QSTR_ERR_BLOCK, MP_ROM_INT(ADAMB_BAD_BLOCK))                   \
    X(MP_QSTR_ERR_CONFIG, MP_ROM_INT(ADAMB_BAD_CONFIG))                 \
    X(MP_QSTR_ERR_DEVICE, MP_ROM_INT(ADAMB_STORE_DEVICE))               \
    X(MP_QSTR_ERR_DIMENSIONS, MP_ROM_INT(ADAMB_BAD_DIMENSIONS))         \
    X(MP_QSTR_ERR_EMPTY, MP_ROM_INT(ADAMB_STORE_EMPTY))                 \
    X(MP_QSTR_ERR_MEMORY, MP_ROM_INT(ADAMB_NO_MEMORY))                  \
    X(MP_QSTR_ERR_ORDER, MP_ROM_INT(ADAMB_BAD_ORDER))                   \
    X(MP_QSTR_MODE_TRACKING, MP_ROM_INT(ADAMB_MODE_TRACKING))           \
    X(MP_QSTR_MODE_PAPER, MP_ROM_INT(ADAMB_MODE_PAPER))                 \
    X(MP_QSTR_SHARE_OFF, MP_ROM_INT(ADAMB_SHARE_OFF))                   \
    X(MP_QSTR_SHARE_ON, MP_ROM_INT(ADAMB_SHARE_ON))                     \
    X(MP_QSTR_SHARE_TESTING, MP_ROM_INT(ADAMB_SHARE_TESTING))           \
    X(MP_QSTR_WHEN_FULL_RECLAIM, MP_ROM_INT(ADAMB_WHEN_FULL_RECLAIM))   \
    X(MP_QSTR_WHEN_FULL_FREEZE, MP_ROM_INT(ADAMB_WHEN_FULL_FREEZE))
#define PARTS(X)                            \
    X(MP_QSTR_core, CORE_NAMES, core)       \
    X(MP_QSTR_check, CHECK_NAMES, check)    \
    X(MP_QSTR_snapshot, SNAPSHOT_NAMES, snapshot) \
    X(MP_QSTR_store, STORE_NAMES, store)    \
    X(MP_QSTR_guard, GUARD_NAMES, guard)    \
    X(MP_QSTR_unit, UNIT_NAMES, unit)

#ifdef MICROPY_ENABLE_DYNRUNTIME

mp_obj_full_type_t adamb_type_config, adamb_type_controller, adamb_type_store, adamb_type_guard, adamb_type_unit;
mp_obj_full_type_t adamb_type_class, adamb_type_error, adamb_type_replaced, adamb_type_part;

/* A part of the module, with its names: a .mpy file cannot make modules, and a class would take its functions for methods. */
typedef struct {
    mp_obj_base_t base;
    mp_obj_t names;
} part_obj;

static void part_attr(mp_obj_t self, qstr name, mp_obj_t *dest)
{
    mp_obj_t names = ((part_obj *)MP_OBJ_TO_PTR(self))->names, key = MP_OBJ_NEW_QSTR(name);
    if (dest[0] == MP_OBJ_NULL && mp_obj_is_true(mp_binary_op(MP_BINARY_OP_IN, key, names))) {
        dest[0] = mp_obj_subscr(names, key, MP_OBJ_SENTINEL);
    }
}

static mp_obj_t make_part(mp_obj_t names)
{
    part_obj *part = mp_obj_malloc(part_obj, (const mp_obj_type_t *)&adamb_type_part);
    part->names = names;
    return MP_OBJ_FROM_PTR(part);
}

static void make_type(mp_obj_full_type_t *type, qstr name, void *attr)
{
    type->base.type = (void *)&mp_type_type;
    type->name = name;
    MP_OBJ_TYPE_SET_SLOT(type, attr, attr, 0);
}

#define ENTER(name, value) mp_obj_dict_store(names, MP_OBJ_NEW_QSTR(name), (mp_obj_t)(value));
#define MAKE_PART(name, PART_NAMES, part) \
    names = mp_obj_new_dict(0);           \
    PART_NAMES(ENTER)                     \
    mp_store_global(name, make_part(names));
#define MAKE_NAME(name, value) mp_store_global(name, (mp_obj_t)(value));
#define MAKE_TYPE(kind, name, METHODS)                          \
    names = mp_obj_new_dict(0);                                 \
    METHODS(ENTER)                                              \
    make_type(&adamb_type_##kind, name, adamb_##kind##_attr);   \
    MP_OBJ_TYPE_SET_SLOT(&adamb_type_##kind, locals_dict, MP_OBJ_TO_PTR(names), 1);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args)
{
    MP_DYNRUNTIME_INIT_ENTRY
    mp_obj_t names;
    make_type(&adamb_type_part, MP_QSTR_adamb, part_attr);
    make_type(&adamb_type_config, MP_QSTR_Config, adamb_config_attr);
    MP_OBJ_TYPE_SET_SLOT(&adamb_type_config, make_new, adamb_config_make_new, 1);
    MAKE_TYPE(controller, MP_QSTR_Controller, CONTROLLER_NAMES)
    MAKE_TYPE(store, MP_QSTR_Store, STORE_METHODS)
    MAKE_TYPE(guard, MP_QSTR_Guard, GUARD_METHODS)
    MAKE_TYPE(unit, MP_QSTR_Unit, UNIT_METHODS)
    MAKE_TYPE(class, MP_QSTR_Controller, CLASS_METHODS)
    MP_OBJ_TYPE_SET_SLOT(&adamb_type_unit, make_new, adamb_unit_make_new, 2);
    MP_OBJ_TYPE_SET_SLOT(&adamb_type_class, make_new, adamb_class_make_new, 2);
    mp_obj_exception_init(&adamb_type_error, MP_QSTR_Error, &mp_type_Exception);
    mp_obj_exception_init(&adamb_type_replaced, MP_QSTR_Replaced, &mp_type_Exception);
    PARTS(MAKE_PART)
    NAMES(MAKE_NAME)
    MP_DYNRUNTIME_INIT_EXIT
}

#else

#define ROW(name, value) {MP_ROM_QSTR(name), value},
#define TABLE(kind, ROWS)                                           \
    static const mp_rom_map_elem_t kind##_table[] = {ROWS(ROW)};    \
    static MP_DEFINE_CONST_DICT(kind##_dict, kind##_table);
#define PART(name, ROWS, part)            \
    TABLE(part, ROWS)                     \
    static const mp_obj_module_t part##_part = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&part##_dict};
#define TYPE(kind, name, METHODS) \
    TABLE(kind##_type, METHODS)   \
    MP_DEFINE_CONST_OBJ_TYPE(adamb_type_##kind, name, MP_TYPE_FLAG_NONE, attr, adamb_##kind##_attr, locals_dict, \
                             &kind##_type_dict);
#define CLASS(kind, name, METHODS) \
    TABLE(kind##_type, METHODS)    \
    MP_DEFINE_CONST_OBJ_TYPE(adamb_type_##kind, name, MP_TYPE_FLAG_NONE, make_new, adamb_##kind##_make_new, attr, \
                             adamb_##kind##_attr, locals_dict, &kind##_type_dict);
#define ERROR(kind, name)                                                                                             \
    MP_DEFINE_CONST_OBJ_TYPE(adamb_type_##kind, name, MP_TYPE_FLAG_NONE, make_new, mp_obj_exception_make_new, print, \
                             mp_obj_exception_print, attr, mp_obj_exception_attr, parent, &mp_type_Exception);

MP_DEFINE_CONST_OBJ_TYPE(adamb_type_config, MP_QSTR_Config, MP_TYPE_FLAG_NONE, make_new, adamb_config_make_new, attr,
                         adamb_config_attr);
TYPE(controller, MP_QSTR_Controller, CONTROLLER_NAMES)
TYPE(store, MP_QSTR_Store, STORE_METHODS)
TYPE(guard, MP_QSTR_Guard, GUARD_METHODS)
CLASS(unit, MP_QSTR_Unit, UNIT_METHODS)
CLASS(class, MP_QSTR_Controller, CLASS_METHODS)
ERROR(error, MP_QSTR_Error)
ERROR(replaced, MP_QSTR_Replaced)
PARTS(PART)

#define PART_ROW(name, ROWS, part) {MP_ROM_QSTR(name), MP_ROM_PTR(&part##_part)},
static const mp_rom_map_elem_t module_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_adamb)},
    PARTS(PART_ROW)
    NAMES(ROW)
};
static MP_DEFINE_CONST_DICT(module_dict, module_table);

const mp_obj_module_t adamb_user_cmodule = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&module_dict};
MP_REGISTER_MODULE(MP_QSTR_adamb, adamb_user_cmodule);

#endif
