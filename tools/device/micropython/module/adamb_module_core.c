/* The MicroPython module `adamb`: configuration, controller, check and counters, units of your own.
 *
 * act, observe and end_episode take nothing from the heap. Arguments are taken by the buffer protocol; a list or tuple
 * is taken item by item. Codes are those of adamb.h, and in the order in which the Python core finds them. */
#include "adamb_module.h"
#include "adamb_unit.h"

enum { BYTE_FIELDS = 10, FIELDS = 13, LEVELS = 15, DIMS = 3 };

/* The names of adamb_config, in its order. A .mpy file knows its names only when it runs, so there is no table. */
static qstr field_name(size_t i)
{
    switch (i) {
    case 0: return MP_QSTR_d_s;
    case 1: return MP_QSTR_d_a;
    case 2: return MP_QSTR_horizon;
    case 3: return MP_QSTR_mode;
    case 4: return MP_QSTR_split_counts;
    case 5: return MP_QSTR_share;
    case 6: return MP_QSTR_when_full;
    case 7: return MP_QSTR_random_action;
    case 8: return MP_QSTR_detect;
    case 9: return MP_QSTR_auto_bonus;
    case 10: return MP_QSTR_bonus;
    case 11: return MP_QSTR_seed;
    default: return MP_QSTR_thresholds;
    }
}

typedef struct {
    mp_obj_base_t base;
    mp_obj_t fields[FIELDS];
} config_obj;

typedef struct {
    mp_obj_base_t base;
    mp_obj_t block;
    uint8_t d_s, d_a;
} controller_obj;

typedef struct {
    mp_obj_base_t base;
    adamb_unit unit;
} unit_obj;

adamb_words adamb_module_words(mp_obj_t block)
{
    mp_buffer_info_t info;
    mp_get_buffer_raise(block, &info, MP_BUFFER_RW);
    if (info.typecode != 'H') {
        mp_raise_TypeError(MP_ERROR_TEXT("a block is an array('H')"));
    }
    adamb_words found = {info.buf, (uint32_t)(info.len / 2)};
    return found;
}

bool adamb_module_holds(adamb_words block)
{
    return block.words > ADAMB_H_WORDS && block.words >= (uint32_t)block.w[ADAMB_H_UNITS] << 2;
}

int32_t adamb_module_number(mp_obj_t value)
{
    if (!mp_obj_is_small_int(value)) {
        if (mp_obj_is_int(value)) {
            return -1; /* an integer that needs the heap is larger than 16 bits */
        }
        value = MP_OBJ_NEW_SMALL_INT(mp_obj_get_int(value)); /* True and False; a TypeError for what is no number */
    }
    mp_int_t number = MP_OBJ_SMALL_INT_VALUE(value);
    return number < 0 || number > 0xFFFF ? -1 : (int32_t)number;
}

/* Items of a sequence; their place too when they are words in a row. */
static size_t items(mp_obj_t sequence, uint16_t **words, mp_uint_t flags)
{
    mp_buffer_info_t info;
    *words = 0;
    if (mp_get_buffer(sequence, &info, flags) && info.typecode == 'H') {
        *words = info.buf;
        return info.len / 2;
    }
    return (size_t)mp_obj_get_int(mp_obj_len(sequence));
}

/* The first numbers of a sequence; false when there are fewer, or one is no word. */
static bool read_words(mp_obj_t from, size_t count, uint16_t *to)
{
    uint16_t *words;
    if (items(from, &words, MP_BUFFER_READ) < count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t number = words ? words[i] : adamb_module_number(mp_obj_subscr(from, MP_OBJ_NEW_SMALL_INT(i), MP_OBJ_SENTINEL));
        if (number < 0) {
            return false;
        }
        to[i] = (uint16_t)number;
    }
    return true;
}

int adamb_module_config(mp_obj_t from, adamb_config *config)
{
    uint8_t *bytes = (uint8_t *)config; /* the members of 8 bits come first, in the order of the names */
    for (size_t i = 0; i < BYTE_FIELDS; i++) {
        int32_t number = adamb_module_number(mp_load_attr(from, field_name(i)));
        if (number < 0 || number > 0xFF) {
            return ADAMB_BAD_CONFIG;
        }
        bytes[i] = (uint8_t)number;
    }
    int32_t bonus = adamb_module_number(mp_load_attr(from, MP_QSTR_bonus));
    int32_t seed = adamb_module_number(mp_load_attr(from, MP_QSTR_seed));
    config->bonus = (uint16_t)bonus;
    config->seed = (uint16_t)seed;
    bool whole = read_words(mp_load_attr(from, MP_QSTR_thresholds), LEVELS, config->thresholds);
    return whole && bonus >= 0 && seed >= 0 ? 0 : ADAMB_BAD_CONFIG;
}

/* The thresholds as array('H'), which is what the Python core gives. */
static mp_obj_t threshold_array(const adamb_config *config)
{
    mp_obj_t numbers[LEVELS], arguments[2];
    for (size_t i = 0; i < LEVELS; i++) {
        numbers[i] = MP_OBJ_NEW_SMALL_INT(config->thresholds[i]);
    }
    arguments[0] = MP_OBJ_NEW_QSTR(MP_QSTR_H);
    arguments[1] = mp_obj_new_tuple(LEVELS, numbers);
    mp_obj_t module = mp_import_name(MP_QSTR_array, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
    return mp_call_function_n_kw(mp_load_attr(module, MP_QSTR_array), 2, 0, arguments);
}

static mp_obj_t thresholds(mp_obj_t gamma, mp_obj_t phi_num, mp_obj_t phi_den)
{
    adamb_config config;
    int32_t power = adamb_module_number(gamma), num = adamb_module_number(phi_num), den = adamb_module_number(phi_den);
    if (power < 1 || power > 14 || num < 0 || den < 0) {
        mp_raise_ValueError(MP_ERROR_TEXT("gamma is 1 to 14, phi_num and phi_den 0 to 65535"));
    }
    adamb_thresholds(&config, (uint8_t)power, (uint16_t)num, (uint16_t)den);
    return threshold_array(&config);
}
MP_DEFINE_CONST_FUN_OBJ_3(adamb_thresholds_obj, thresholds);

void adamb_module_set(mp_obj_t config, mp_obj_t name, mp_obj_t value)
{
    config_obj *self = MP_OBJ_TO_PTR(config);
    for (size_t i = 0; i < FIELDS; i++) {
        if (MP_OBJ_NEW_QSTR(field_name(i)) == name) {
            self->fields[i] = value;
            return;
        }
    }
    mp_raise_msg(MP_OBJ_TO_PTR(mp_load_global(MP_QSTR_AttributeError)), MP_ERROR_TEXT("Config has no such field"));
}

mp_obj_t adamb_config_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args)
{
    mp_arg_check_num(n_args, n_kw, 0, 0, true);
    adamb_config usual;
    adamb_config_default(&usual, 1, 1, 5);
    config_obj *self = mp_obj_malloc(config_obj, type);
    for (size_t i = 0; i < BYTE_FIELDS; i++) {
        self->fields[i] = MP_OBJ_NEW_SMALL_INT(((const uint8_t *)&usual)[i]);
    }
    self->fields[10] = MP_OBJ_NEW_SMALL_INT(usual.bonus);
    self->fields[11] = MP_OBJ_NEW_SMALL_INT(usual.seed);
    self->fields[12] = mp_const_none;
    self->fields[12] = threshold_array(&usual);
    for (size_t i = 0; i < 2 * n_kw; i += 2) {
        adamb_module_set(MP_OBJ_FROM_PTR(self), args[i], args[i + 1]);
    }
    return MP_OBJ_FROM_PTR(self);
}

/* dest[0] is null to load; to store, dest[1] is the value, and dest[0] becomes null. */
void adamb_config_attr(mp_obj_t self, qstr name, mp_obj_t *dest)
{
    mp_obj_t *fields = ((config_obj *)MP_OBJ_TO_PTR(self))->fields;
    for (size_t i = 0; i < FIELDS; i++) {
        if (field_name(i) != name) {
            continue;
        }
        if (dest[0] == MP_OBJ_NULL) {
            dest[0] = fields[i];
        } else if (dest[1] != MP_OBJ_NULL) {
            fields[i] = dest[1];
            dest[0] = MP_OBJ_NULL;
        }
        return;
    }
}

static mp_obj_t required_words(mp_obj_t from)
{
    adamb_config config;
    int code = adamb_module_config(from, &config);
    return MP_OBJ_NEW_SMALL_INT(code < 0 ? code : adamb_required_words(&config));
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_required_words_obj, required_words);

static mp_obj_t new_controller(mp_obj_t block, const uint16_t *w)
{
    controller_obj *self = mp_obj_malloc(controller_obj, ADAMB_TYPE(controller));
    self->block = block;
    self->d_s = w[ADAMB_H_DIMS] & 15;
    self->d_a = w[ADAMB_H_DIMS] >> 4 & 15;
    return MP_OBJ_FROM_PTR(self);
}

mp_obj_t adamb_module_init(mp_obj_t from, mp_obj_t block)
{
    adamb_config config;
    adamb_words found = adamb_module_words(block);
    int code = adamb_module_config(from, &config);
    code = code < 0 ? code : adamb_init(&config, found.w, found.words);
    return code < 0 ? MP_OBJ_NEW_SMALL_INT(code) : new_controller(block, found.w);
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_init_obj, adamb_module_init);

mp_obj_t adamb_module_attach(mp_obj_t block)
{
    adamb_statistics stats;
    adamb_words found = adamb_module_words(block);
    if (!adamb_module_holds(found) || adamb_stats(found.w, &stats) != 0) {
        return MP_OBJ_NEW_SMALL_INT(ADAMB_BAD_BLOCK);
    }
    return new_controller(block, found.w);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_attach_obj, adamb_module_attach);

void adamb_controller_attr(mp_obj_t self, qstr name, mp_obj_t *dest)
{
    if (dest[0] != MP_OBJ_NULL) {
        return;
    }
    if (name == MP_QSTR_w) {
        dest[0] = ((controller_obj *)MP_OBJ_TO_PTR(self))->block;
    } else {
        dest[1] = MP_OBJ_SENTINEL; /* among the methods */
    }
}

mp_obj_t adamb_module_act(size_t n, const mp_obj_t *args)
{
    (void)n;
    const controller_obj *self = MP_OBJ_TO_PTR(args[0]);
    adamb_words block = adamb_module_words(self->block);
    uint16_t state[DIMS] = {0}, action[DIMS] = {0}, *place;
    if (!adamb_module_holds(block)) {
        return MP_OBJ_NEW_SMALL_INT(ADAMB_BAD_BLOCK);
    }
    int h = adamb_module_number(args[1]);
    if (items(args[3], &place, MP_BUFFER_RW) < self->d_a || !read_words(args[2], self->d_s, state)) {
        h = -1; /* so that the core answers, which looks at the block first */
    }
    int code = adamb_act(block.w, h, state, action);
    for (size_t i = 0; code == 0 && i < self->d_a; i++) {
        if (place) {
            place[i] = action[i];
        } else {
            mp_obj_subscr(args[3], MP_OBJ_NEW_SMALL_INT(i), MP_OBJ_NEW_SMALL_INT(action[i]));
        }
    }
    return MP_OBJ_NEW_SMALL_INT(code);
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_act_obj, 4, 4, adamb_module_act);

mp_obj_t adamb_module_given(size_t n, const mp_obj_t *args)
{
    (void)n;
    const controller_obj *self = MP_OBJ_TO_PTR(args[0]);
    adamb_words block = adamb_module_words(self->block);
    uint16_t state[DIMS] = {0}, action[DIMS] = {0};
    if (!adamb_module_holds(block)) {
        return MP_OBJ_NEW_SMALL_INT(ADAMB_BAD_BLOCK);
    }
    int h = adamb_module_number(args[1]);
    if (!read_words(args[2], self->d_s, state) || !read_words(args[3], self->d_a, action)) {
        h = -1;
    }
    return MP_OBJ_NEW_SMALL_INT(adamb_given(block.w, h, state, action));
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_given_obj, 4, 4, adamb_module_given);

mp_obj_t adamb_module_observe(size_t n, const mp_obj_t *args)
{
    (void)n;
    const controller_obj *self = MP_OBJ_TO_PTR(args[0]);
    adamb_words block = adamb_module_words(self->block);
    uint16_t next[DIMS] = {0};
    if (!adamb_module_holds(block)) {
        return MP_OBJ_NEW_SMALL_INT(ADAMB_BAD_BLOCK);
    }
    int h = adamb_module_number(args[1]);
    int32_t reward = adamb_module_number(args[2]);
    if (reward < 0 || !read_words(args[3], self->d_s, next)) {
        h = -1;
    }
    return MP_OBJ_NEW_SMALL_INT(adamb_observe(block.w, h, (uint16_t)reward, next));
}
MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(adamb_observe_obj, 4, 4, adamb_module_observe);

mp_obj_t adamb_module_end_episode(mp_obj_t self)
{
    adamb_words block = adamb_module_words(((const controller_obj *)MP_OBJ_TO_PTR(self))->block);
    return MP_OBJ_NEW_SMALL_INT(adamb_module_holds(block) ? adamb_end_episode(block.w) : ADAMB_BAD_BLOCK);
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_end_episode_obj, adamb_module_end_episode);

static mp_obj_t check(mp_obj_t block)
{
    adamb_words found = adamb_module_words(block);
    return MP_OBJ_NEW_SMALL_INT(found.words < ADAMB_H_WORDS ? ADAMB_BAD_ARGUMENT : adamb_check(found.w, found.words));
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_check_obj, check);

static mp_obj_t stats(mp_obj_t block)
{
    adamb_statistics s;
    adamb_words found = adamb_module_words(block);
    mp_obj_t counters = mp_obj_new_dict(0);
    if (found.words < ADAMB_H_WORDS || adamb_stats(found.w, &s) != 0) {
        return counters;
    }
#define COUNTER(name, value) mp_obj_dict_store(counters, MP_OBJ_NEW_QSTR(name), MP_OBJ_NEW_SMALL_INT(value))
    mp_obj_dict_store(counters, MP_OBJ_NEW_QSTR(MP_QSTR_episodes), mp_obj_new_int_from_uint(s.episodes));
    COUNTER(MP_QSTR_units, s.units);
    COUNTER(MP_QSTR_units_used, s.units_used);
    COUNTER(MP_QSTR_units_peak, s.units_peak);
    COUNTER(MP_QSTR_units_header, s.units_header);
    COUNTER(MP_QSTR_splits, s.splits);
    COUNTER(MP_QSTR_trees, s.trees);
    COUNTER(MP_QSTR_finest, s.finest);
    COUNTER(MP_QSTR_share, s.share);
    COUNTER(MP_QSTR_bonus, s.bonus);
    COUNTER(MP_QSTR_refused, s.refused);
    COUNTER(MP_QSTR_no_room, s.no_room);
    COUNTER(MP_QSTR_reclaims, s.reclaims);
    COUNTER(MP_QSTR_saturations, s.saturations);
    COUNTER(MP_QSTR_restarts, s.restarts);
    return counters;
}
MP_DEFINE_CONST_FUN_OBJ_1(adamb_stats_obj, stats);

/* A number of 32 bits, the nearest for a larger one. */
static int32_t nearest(mp_obj_t value)
{
    mp_int_t number = mp_obj_get_int_truncated(value);
    if (!mp_obj_is_small_int(value) && !mp_obj_is_true(mp_binary_op(MP_BINARY_OP_EQUAL, value, mp_obj_new_int(number)))) {
        bool below = mp_obj_is_true(mp_binary_op(MP_BINARY_OP_LESS, value, MP_OBJ_NEW_SMALL_INT(0)));
        return below ? INT32_MIN : INT32_MAX;
    }
    return number < INT32_MIN ? INT32_MIN : number > INT32_MAX ? INT32_MAX : (int32_t)number;
}

static mp_obj_t unit_init(mp_obj_t zero, mp_obj_t full)
{
    unit_obj *self = mp_obj_malloc(unit_obj, ADAMB_TYPE(unit));
    int code = adamb_unit_init(&self->unit, nearest(zero), nearest(full));
    return code < 0 ? MP_OBJ_NEW_SMALL_INT(code) : MP_OBJ_FROM_PTR(self);
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_unit_init_obj, unit_init);

mp_obj_t adamb_unit_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args)
{
    (void)type;
    mp_arg_check_num(n_args, n_kw, 2, 2, false);
    mp_obj_t made = unit_init(args[0], args[1]);
    if (mp_obj_is_small_int(made)) {
        mp_raise_ValueError(MP_ERROR_TEXT("the ends of a unit are 1 to 65535 apart"));
    }
    return made;
}

static mp_obj_t unit_code(mp_obj_t self, mp_obj_t value)
{
    return MP_OBJ_NEW_SMALL_INT(adamb_unit_code(&((unit_obj *)MP_OBJ_TO_PTR(self))->unit, nearest(value)));
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_unit_code_obj, unit_code);

static mp_obj_t unit_value(mp_obj_t self, mp_obj_t value)
{
    int32_t code = adamb_module_number(value);
    if (code < 0) {
        mp_raise_ValueError(MP_ERROR_TEXT("a code is 0 to 65535"));
    }
    return mp_obj_new_int(adamb_unit_value(&((unit_obj *)MP_OBJ_TO_PTR(self))->unit, (uint16_t)code));
}
MP_DEFINE_CONST_FUN_OBJ_2(adamb_unit_value_obj, unit_value);

void adamb_unit_attr(mp_obj_t self, qstr name, mp_obj_t *dest)
{
    adamb_unit *unit = &((unit_obj *)MP_OBJ_TO_PTR(self))->unit;
    if (dest[0] != MP_OBJ_NULL) {
        if (name == MP_QSTR_out_of_range && dest[1] != MP_OBJ_NULL) {
            unit->out_of_range = (uint32_t)nearest(dest[1]);
            dest[0] = MP_OBJ_NULL;
        }
    } else if (name == MP_QSTR_zero) {
        dest[0] = mp_obj_new_int(unit->zero);
    } else if (name == MP_QSTR_full) {
        dest[0] = mp_obj_new_int(unit->full);
    } else if (name == MP_QSTR_out_of_range) {
        dest[0] = mp_obj_new_int_from_uint(unit->out_of_range);
    } else if (name == MP_QSTR_outside) {
        dest[0] = MP_OBJ_NEW_SMALL_INT(unit->outside);
    } else {
        dest[1] = MP_OBJ_SENTINEL;
    }
}
