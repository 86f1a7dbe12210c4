/* Replay a recorded stream on the board: in.bin holds sizes, configuration and steps; out.bin gets, after every
 * episode, the CRC-32 of the whole block, and before it of the actions played. */
#include "adamb.h"
#include "startup.h"

enum { EXIT_INPUT = 80, EXIT_ROOM = 81, EXIT_INIT = 82, EXIT_ACT = 83, EXIT_OBSERVE = 84, EXIT_END = 85 };
enum { STACK_BYTES = 2048 };

extern uint8_t adamb_ram_start, adamb_ram_end;

static uint32_t crc_more(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
        }
    }
    return crc;
}

static int replay_episode(int32_t in, int32_t out, const adamb_config *config, uint16_t *block, uint32_t words)
{
    uint16_t step[7], action[3];
    uint32_t step_bytes = 2u * (2u * config->d_s + 1u);
    uint32_t crc[2] = {0xFFFFFFFFu, 0};
    for (int h = 0; h < config->horizon; h++) {
        if (device_read(in, step, step_bytes) != step_bytes) {
            return EXIT_INPUT;
        }
        if (adamb_act(block, h, step, action) < 0) {
            return EXIT_ACT;
        }
        crc[0] = crc_more(crc[0], (const uint8_t *)action, 2u * config->d_a);
        if (adamb_observe(block, h, step[config->d_s], step + config->d_s + 1) < 0) {
            return EXIT_OBSERVE;
        }
    }
    if (adamb_end_episode(block) < 0) {
        return EXIT_END;
    }
    crc[0] = ~crc[0];
    crc[1] = ~crc_more(0xFFFFFFFFu, (const uint8_t *)block, 2u * words);
    return device_write(out, crc, sizeof crc) == sizeof crc ? 0 : EXIT_INPUT;
}

int device_main(void)
{
    uint32_t head[3];
    adamb_config config;
    uint16_t *block = (uint16_t *)(void *)&adamb_ram_start;
    int32_t in = device_open("in.bin", 6, DEVICE_READ_BINARY);
    int32_t out = device_open("out.bin", 7, DEVICE_WRITE_BINARY);
    if (in < 0 || out < 0 || device_read(in, head, sizeof head) != sizeof head || head[0] != sizeof config) {
        return EXIT_INPUT;
    }
    if (2u * head[1] + STACK_BYTES > (uintptr_t)&adamb_ram_end - (uintptr_t)&adamb_ram_start) {
        return EXIT_ROOM;
    }
    uint32_t config_bytes = (uint32_t)(sizeof config + 3u) & ~3u;
    uint8_t padded[sizeof config + 3u];
    if (device_read(in, padded, config_bytes) != config_bytes) {
        return EXIT_INPUT;
    }
    for (uint32_t i = 0; i < sizeof config; i++) {
        ((uint8_t *)&config)[i] = padded[i];
    }
    if (adamb_init(&config, block, head[1]) < 0) {
        return EXIT_INIT;
    }
    for (uint32_t k = 0; k < head[2]; k++) {
        int status = replay_episode(in, out, &config, block, head[1]);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}
