/* The MicroPython module `adamb`: the class for programs. firmware_model/controller.py is the same in Python, call for
 * call; its names are those of the module itself, the codes of C are in the parts. */
#include "adamb_module.h"
#include "adamb_store.h"

typedef struct {
    mp_obj_base_t base;
    mp_obj_t config, block, guard, core; /* the guard is None without saves */
} class_obj;

static mp_obj_t text(const char *words)
{
    size_t length = 0;
    while (words[length] != 0) {
        length++;
    }
    return mp_obj_new_str(words, length);
}

static void refuse(mp_obj_t code, mp_obj_t words)
{
    mp_obj_t arguments[2] = {code, words};
    nlr_raise(mp_obj_exception_make_new(ADAMB_TYPE(error), 2, 0, arguments));
}

static void refuse_code(mp_obj_t code)
{
    refuse(code, text(adamb_error_text((int)MP_OBJ_SMALL_INT_VALUE(code))));
}

/* None for 0; anything else is handled by the guard, if there is one, and raised. */
static mp_obj_t done(class_obj *self, mp_obj_t code)
{
    if (MP_OBJ_SMALL_INT_VALUE(code) == 0) {
        return mp_const_none;
    }
    if (self->guard != mp_const_none) {
        mp_obj_t arguments[2] = {self->guard, code};
        code = mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_guard_handle_obj), 2, 0, arguments);
        self->core = mp_load_attr(self->guard, MP_QSTR_controller);
        if (MP_OBJ_SMALL_INT_VALUE(code) > 0) {
            mp_obj_t words = text(MP_OBJ_SMALL_INT_VALUE(code) == 1 ? "restored" : "reinitialised");
            nlr_raise(mp_obj_exception_make_new(ADAMB_TYPE(replaced), 1, 0, &words));
        }
    }
    refuse_code(code);
    return mp_const_none;
}

/* array('H') of zeros. */
static mp_obj_t new_block(mp_int_t bytes)
{
    mp_obj_t size = MP_OBJ_NEW_SMALL_INT(bytes / 2 * 2), arguments[2];
    arguments[0] = MP_OBJ_NEW_QSTR(MP_QSTR_H);
    arguments[1] = mp_call_function_n_kw(MP_OBJ_FROM_PTR(&mp_type_bytearray), 1, 0, &size);
    mp_obj_t module = mp_import_name(MP_QSTR_array, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
    return mp_call_function_n_kw(mp_load_attr(module, MP_QSTR_array), 2, 0, arguments);
}

static void refuse_start(mp_obj_t code, mp_obj_t from, mp_obj_t bytes)
{
    adamb_config config;
    if (MP_OBJ_SMALL_INT_VALUE(code) == ADAMB_NO_MEMORY && adamb_module_config(from, &config) == 0) {
        mp_obj_t numbers[2] = {bytes, MP_OBJ_NEW_SMALL_INT(2 * adamb_required_words(&config))};
        mp_obj_t words = text("bytes = %d: at least %d are needed");
        refuse(code, mp_binary_op(MP_BINARY_OP_MODULO, words, mp_obj_new_tuple(2, numbers)));
    }
    refuse_code(code);
}

enum { POSITIONS = 5 };

/* The name of an argument by its position. */
static qstr argument(size_t i)
{
    switch (i) {
    case 0: return MP_QSTR_states;
    case 1: return MP_QSTR_actions;
    case 2: return MP_QSTR_horizon;
    case 3: return MP_QSTR_bytes;
    default: return MP_QSTR_saves;
    }
}

mp_obj_t adamb_class_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args)
{
    mp_obj_t given[POSITIONS] = {MP_OBJ_NEW_SMALL_INT(1), MP_OBJ_NEW_SMALL_INT(1), MP_OBJ_NEW_SMALL_INT(5),
                                 MP_OBJ_NEW_SMALL_INT(4096), mp_const_none};
    mp_arg_check_num(n_args, n_kw, 0, POSITIONS, true);
    class_obj *self = mp_obj_malloc(class_obj, type);
    self->config = adamb_config_make_new(ADAMB_TYPE(config), 0, 0, 0);
    self->block = self->guard = self->core = mp_const_none;
    for (size_t i = 0; i < n_args; i++) {
        given[i] = args[i];
    }
    for (const mp_obj_t *pair = args + n_args; pair < args + n_args + 2 * n_kw; pair += 2) {
        size_t i = 0;
        while (i < POSITIONS && MP_OBJ_NEW_QSTR(argument(i)) != pair[0]) {
            i++;
        }
        if (i < POSITIONS) {
            given[i] = pair[1];
        } else {
            adamb_module_set(self->config, pair[0], pair[1]);
        }
    }
    adamb_module_set(self->config, MP_OBJ_NEW_QSTR(MP_QSTR_d_s), given[0]);
    adamb_module_set(self->config, MP_OBJ_NEW_QSTR(MP_QSTR_d_a), given[1]);
    adamb_module_set(self->config, MP_OBJ_NEW_QSTR(MP_QSTR_horizon), given[2]);
    self->block = new_block(mp_obj_get_int(given[3]));
    mp_obj_t arguments[3] = {self->config, self->block, given[4]};
    bool guarded = given[4] != mp_const_none;
    mp_obj_t made = guarded ? mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_guard_open_obj), 3, 0, arguments)
                            : adamb_module_init(self->config, self->block);
    if (mp_obj_is_small_int(made)) {
        refuse_start(made, self->config, given[3]);
    }
    self->guard = guarded ? made : mp_const_none;
    self->core = guarded ? mp_load_attr(made, MP_QSTR_controller) : made;
    return MP_OBJ_FROM_PTR(self);
}

void adamb_class_attr(mp_obj_t self_in, qstr name, mp_obj_t *dest)
{
    const class_obj *self = MP_OBJ_TO_PTR(self_in);
    if (dest[0] != MP_OBJ_NULL) {
        return;
    }
    if (name == MP_QSTR_block) {
        dest[0] = self->block;
    } else if (name == MP_QSTR_guard) {
        dest[0] = self->guard;
    } else if (name == MP_QSTR_config) {
        dest[0] = self->config;
    } else {
        dest[1] = MP_OBJ_SENTINEL; /* among the methods */
    }
}

static mp_obj_t class_act(size_t n, const mp_obj_t *args)
{
    class_obj *self = MP_OBJ_TO_PTR(args[0]);
    mp_obj_t call[4] = {self->core, args[1], args[2], args[3]};
    return done(self, adamb_module_act(n, call));
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_class_act_obj, 4, 4, class_act);

static mp_obj_t class_given(size_t n, const mp_obj_t *args)
{
    class_obj *self = MP_OBJ_TO_PTR(args[0]);
    mp_obj_t call[4] = {self->core, args[1], args[2], args[3]};
    return done(self, adamb_module_given(n, call));
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_class_given_obj, 4, 4, class_given);

static mp_obj_t class_observe(size_t n, const mp_obj_t *args)
{
    class_obj *self = MP_OBJ_TO_PTR(args[0]);
    mp_obj_t call[4] = {self->core, args[1], args[2], args[3]};
    return done(self, adamb_module_observe(n, call));
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_class_observe_obj, 4, 4, class_observe);

static mp_obj_t class_end_episode(mp_obj_t self)
{
    return done(MP_OBJ_TO_PTR(self), adamb_module_end_episode(((class_obj *)MP_OBJ_TO_PTR(self))->core));
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_class_end_episode_obj, class_end_episode);

static mp_obj_t class_tick(mp_obj_t self_in)
{
    class_obj *self = MP_OBJ_TO_PTR(self_in);
    if (self->guard == mp_const_none) {
        refuse(MP_OBJ_NEW_SMALL_INT(ADAMB_STORE_EMPTY), text("a controller without saves has no guard"));
    }
    return done(self, mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_guard_tick_obj), 1, 0, &self->guard));
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_class_tick_obj, class_tick);

static mp_obj_t class_stats(mp_obj_t self)
{
    mp_obj_t block = ((class_obj *)MP_OBJ_TO_PTR(self))->block;
    return mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_stats_obj), 1, 0, &block);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_class_stats_obj, class_stats);

static mp_obj_t class_save(size_t n, const mp_obj_t *args)
{
    class_obj *self = MP_OBJ_TO_PTR(args[0]);
    if (n == 1 || args[1] == mp_const_none) {
        mp_obj_t empty = MP_OBJ_NEW_SMALL_INT(ADAMB_STORE_EMPTY);
        bool guarded = self->guard != mp_const_none;
        mp_obj_t save = MP_OBJ_FROM_PTR(&adamb_guard_save_obj);
        return done(self, guarded ? mp_call_function_n_kw(save, 1, 0, &self->guard) : empty);
    }
    mp_obj_t arguments[2] = {self->block, args[1]};
    mp_obj_t length = mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_snapshot_write_obj), 2, 0, arguments);
    return done(self, MP_OBJ_SMALL_INT_VALUE(length) > 0 ? MP_OBJ_NEW_SMALL_INT(0) : length);
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_class_save_obj, 1, 2, class_save);

static mp_obj_t class_restore(mp_obj_t self_in, mp_obj_t file)
{
    class_obj *self = MP_OBJ_TO_PTR(self_in);
    mp_obj_t arguments[3] = {file, self->config, self->block};
    return done(self, mp_call_function_n_kw(MP_OBJ_FROM_PTR(&adamb_snapshot_read_obj), 3, 0, arguments));
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_class_restore_obj, class_restore);
