/* AdaMB for C++: a controller together with its block, in one object. No exceptions, no allocation, nothing virtual.
 *
 *     adamb::Controller<2048> controller;                       // 2048 words, 4 KiB, wherever you put the object
 *     adamb_config config;
 *     adamb_config_default(&config, 1, 1, 5);
 *     if (controller.begin(config) < 0) { stop(); }
 *     if (controller.act(h, state, action) < 0) { stop(); }     // sets the safe output
 *     if (controller.observe(h, reward, next_state) < 0) { stop(); }
 *
 * Every call answers as the function of adamb.h or adamb_snapshot.h that it stands for: 0 or a non-negative value, or a
 * negative code, which adamb_error_text explains. A copy of the object is a copy of the controller. C++98 and later. */
#ifndef ADAMB_HPP
#define ADAMB_HPP
#include "adamb.h"
#include "adamb_snapshot.h"

namespace adamb {

template <uint32_t Words> class Controller {
public:
    /* Nothing is known before begin or restore: until then every call answers ADAMB_BAD_BLOCK. */
    Controller() : block_()
    {
    }

    int begin(const adamb_config &config)
    {
        return adamb_init(&config, block_, Words);
    }

    int act(int h, const uint16_t *state, uint16_t *action)
    {
        return adamb_act(block_, h, state, action);
    }

    int given(int h, const uint16_t *state, const uint16_t *action)
    {
        return adamb_given(block_, h, state, action);
    }

    int observe(int h, uint16_t reward, const uint16_t *next_state)
    {
        return adamb_observe(block_, h, reward, next_state);
    }

    int end_episode()
    {
        return adamb_end_episode(block_);
    }

    int stats(adamb_statistics &found) const
    {
        return adamb_stats(block_, &found);
    }

    int check() const
    {
        return adamb_check(block_, Words);
    }

    int32_t save(uint8_t *out, uint32_t capacity) const
    {
        return adamb_snapshot_save(block_, out, capacity);
    }

    int restore(const uint8_t *data, uint32_t length, const adamb_config &config)
    {
        return adamb_snapshot_restore(data, length, &config, block_, Words);
    }

    /* All of the controller, for the functions that this class leaves out. */
    uint16_t *block()
    {
        return block_;
    }

private:
    uint16_t block_[Words];
};

} // namespace adamb

#endif
