/* A whole program for another processor: the drivers of tests/fault by their names, and a controller that obeys stdin.
 *
 *     whole edges                 as tests/fault/edges.c; likewise driver, store_driver, soak, flips, long_run, with arguments
 *     whole misaligned 1          reads a number at an odd address: "read", or "refused" by a strict processor
 *     whole obey                  one answer a line for each of these:
 *
 *     init FIELDS THRESHOLDS WORDS     members of adamb_config as they follow each other     code, digest
 *     act H STATE                                                                            code, action
 *     observe H REWARD STATE                                                                 code
 *     end                                                                                    code, digest
 *     run SEED EPISODES                the environment of tests/vectors/README.md            code, digest
 *     save                                                                                   code, the snapshot in hex
 *     restore BYTES HEX                                                                      code, digest
 *     stats                                                                                  code, all numbers
 *     check                                                                                  code
 *     scrub                            a pass                                                code, slices, digest of places
 *
 * The build renames the main of each driver, and the pool's own allocation as driver.c wants it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "adamb.h"
#include "adamb_guard.h"
#include "adamb_snapshot.h"

enum { WORDS = 1 << 16 };

int driver_main(int n, char **a);
int edges_main(void);
int flips_main(int n, char **a);
int long_run_main(int n, char **a);
int soak_main(int n, char **a);
int store_driver_main(int n, char **a);

static uint16_t block[WORDS], state[3], action[3];
static uint8_t bytes[2 * WORDS + 16];
static adamb_config config;
static uint32_t words;

static uint32_t number(void)
{
    unsigned given;
    if (scanf("%u", &given) != 1) {
        exit(2);
    }
    return given;
}

static void point(void)
{
    for (uint32_t i = 0; i < config.d_s; i++) {
        state[i] = (uint16_t)number();
    }
}

static uint32_t crc_of(uint32_t crc, uint32_t byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++) {
        crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return crc;
}

/* Of the words, the low byte of each first, however they lie in memory. */
static unsigned digest(void)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < words; i++) {
        crc = crc_of(crc_of(crc, block[i] & 0xFFu), block[i] >> 8);
    }
    return (unsigned)~crc;
}

static int init(void)
{
    uint8_t *const fields[] = {&config.d_s, &config.d_a, &config.horizon, &config.paper, &config.own, &config.share,
                               &config.freeze, &config.random_action, &config.detect, &config.auto_bonus};
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i] = (uint8_t)number();
    }
    config.bonus = (uint16_t)number();
    config.seed = (uint16_t)number();
    for (uint32_t i = 0; i < 15; i++) {
        config.thresholds[i] = (uint16_t)number();
    }
    words = number();
    if (words > WORDS) {
        exit(2);
    }
    memset(block, 0xA5, sizeof block);
    return adamb_init(&config, block, words);
}

static int run(uint16_t x, uint32_t episodes)
{
    int code = 0;
    for (uint32_t i = 0; i < 3; i++) {
        state[i] = 32768;
    }
    for (uint32_t step = 0; step < episodes * config.horizon && code == 0; step++) {
        int h = (int)(step % config.horizon);
        code = adamb_act(block, h, state, action);
        uint16_t reward = (uint16_t)(65535 - abs((int)action[0] - (int)state[0]));
        for (uint32_t i = 0; i < config.d_s; i++) {
            x ^= (uint16_t)(x << 7);
            x ^= (uint16_t)(x >> 9);
            x ^= (uint16_t)(x << 8);
            state[i] = (uint16_t)((state[i] >> 1) + (x >> 1));
        }
        code = code != 0 ? code : adamb_observe(block, h, reward, state);
        if (code == 0 && h + 1 == config.horizon) {
            code = adamb_end_episode(block);
        }
    }
    return code;
}

static void save(void)
{
    int32_t length = adamb_snapshot_save(block, bytes, sizeof bytes);
    printf("%d ", (int)(length < 0 ? length : 0));
    for (int32_t i = 0; i < length; i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

static int restore(void)
{
    uint32_t length = number();
    unsigned byte;
    for (uint32_t i = 0; i < length; i++) {
        if (length > sizeof bytes || scanf("%2x", &byte) != 1) {
            exit(2);
        }
        bytes[i] = (uint8_t)byte;
    }
    memset(block, 0x5A, sizeof block);
    return adamb_snapshot_restore(bytes, length, &config, block, words);
}

static void stats(void)
{
    adamb_statistics s;
    int code = adamb_stats(block, &s);
    printf("%d %u %u %u %u %u %u %u %u %u %u %u %u %u %u %u\n", code, (unsigned)s.episodes, s.units, s.units_used, s.units_peak,
           s.units_header, s.splits, s.trees, s.finest, s.share, s.bonus, s.refused, s.no_room, s.reclaims, s.saturations,
           s.restarts);
}

static void scrub(void)
{
    adamb_place place = {0, 0, 0};
    uint32_t slices = 0, crc = 0;
    int code = 0;
    for (; code == 0; slices++) {
        code = adamb_scrub(block, words, &place);
        crc = crc_of(crc_of(crc ^ place.path, place.h), place.part);
    }
    printf("%d %u %08x\n", code, (unsigned)slices, (unsigned)crc);
}

static void act(void)
{
    int h = (int)number(), code;
    point();
    code = adamb_act(block, h, state, action);
    printf("%d", code);
    for (uint32_t i = 0; i < config.d_a && code == 0; i++) {
        printf(" %u", action[i]);
    }
    printf("\n");
}

static void observe(void)
{
    int h = (int)number();
    uint16_t reward = (uint16_t)number();
    point();
    printf("%d\n", adamb_observe(block, h, reward, state));
}

static void with_digest(int code)
{
    printf("%d %08x\n", code, digest());
}

static int obey(void)
{
    char word[16];
    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "act") == 0) {
            act();
        } else if (strcmp(word, "observe") == 0) {
            observe();
        } else if (strcmp(word, "end") == 0) {
            with_digest(adamb_end_episode(block));
        } else if (strcmp(word, "init") == 0) {
            with_digest(init());
        } else if (strcmp(word, "run") == 0) {
            uint16_t x = (uint16_t)number();
            with_digest(run(x, number()));
        } else if (strcmp(word, "save") == 0) {
            save();
        } else if (strcmp(word, "restore") == 0) {
            with_digest(restore());
        } else if (strcmp(word, "stats") == 0) {
            stats();
        } else if (strcmp(word, "check") == 0) {
            printf("%d\n", adamb_check(block, words));
        } else if (strcmp(word, "scrub") == 0) {
            scrub();
        } else {
            return 2;
        }
    }
    return 0;
}

static void refused(int signal_number)
{
    (void)signal_number;
    printf("refused\n");
    fflush(stdout);
    _exit(0);
}

/* The compiler must not know how odd the address is: it would read byte by byte. */
static int misaligned(uint32_t odd)
{
    const volatile uint32_t *at = (const volatile uint32_t *)((uintptr_t)bytes | odd);
    signal(SIGBUS, refused);
    printf("read %u\n", (unsigned)*at);
    return 0;
}

int main(int n, char **a)
{
    static const struct {
        const char *name;
        int (*main)(int, char **);
    } drivers[] = {{"driver", driver_main}, {"flips", flips_main}, {"long_run", long_run_main}, {"soak", soak_main},
                   {"store_driver", store_driver_main}};
    for (uint32_t i = 0; n > 1 && i < sizeof drivers / sizeof *drivers; i++) {
        if (strcmp(a[1], drivers[i].name) == 0) {
            return drivers[i].main(n - 1, a + 1);
        }
    }
    if (n == 2 && strcmp(a[1], "edges") == 0) {
        return edges_main();
    }
    if (n == 3 && strcmp(a[1], "misaligned") == 0) {
        return misaligned((uint32_t)atoi(a[2]));
    }
    return n == 2 && strcmp(a[1], "obey") == 0 ? obey() : 2;
}
