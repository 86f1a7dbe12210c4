/* The fuzzer without libFuzzer, for any compiler: runs inputs, and mutates those of a corpus. Its search is blind; that of
 * libFuzzer, which has made the corpus, follows what an input reaches.
 *
 *     fuzz run SEED EXECUTIONS SECONDS FOLDER CORPUS...   until either number is reached (0: no limit)
 *     fuzz replay FILE...                                 run these inputs once (also folders)
 *
 * The input that broke a promise is left in a file finding-* of FOLDER; the program then ends with exit code 1 (or the
 * sanitizer's) after a line that begins with FINDING and holds the arguments that replay it. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "draw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MOST = 512, CORPUS_MOST = 4096, HANG_SECONDS = 20 };

typedef struct {
    uint8_t data[INPUT_MOST];
    uint32_t size;
} sample;

static uint32_t random_state;
static sample corpus[CORPUS_MOST], current;
static uint32_t corpus_n;
static volatile uint64_t executions;
static const char *folder = ".";
static uint64_t hang_at;

static uint32_t below(uint32_t n)
{
    return (uint32_t)((uint64_t)draw(&random_state) * n >> 32);
}

static unsigned hash_of_current(void)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < current.size; i++) {
        hash = (hash ^ current.data[i]) * 16777619u;
    }
    return (unsigned)hash;
}

static void write_finding(void)
{
    static char name[4200], line[4400];
    snprintf(name, sizeof name, "%.4000s/finding-%08x", folder, hash_of_current());
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int kept = file >= 0 && write(file, current.data, current.size) == (ssize_t)current.size;
    int n = snprintf(line, sizeof line, "FINDING after %llu executions: fuzz replay %s%s\n",
                     (unsigned long long)executions, name, kept ? "" : " (could not be written)");
    if (write(1, line, (size_t)n) != n) {
        _exit(3);
    }
}

static void on_signal(int number)
{
    if (number == SIGALRM && hang_at != executions) {
        hang_at = executions;
        alarm(HANG_SECONDS);
        return;
    }
    write_finding();
    _exit(1);
}

void __sanitizer_set_death_callback(void (*callback)(void));
const char *__ubsan_default_options(void);

/* With gcc this sanitizer has a runtime of its own, which knows nothing of the callback: it shall raise SIGABRT. */
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static void watch(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, 0);
    }
    signal(SIGSEGV, SIG_DFL); /* the sanitizer's report says more */
    __sanitizer_set_death_callback(write_finding);
    hang_at = UINT64_MAX;
    alarm(HANG_SECONDS);
}

static void execute(void)
{
    executions++;
    LLVMFuzzerTestOneInput(current.data, current.size);
}

static void keep(void)
{
    if (corpus_n < CORPUS_MOST) {
        corpus[corpus_n++] = current;
    }
}

static void mutate(void)
{
    static const uint8_t telling[] = {0, 1, 2, 127, 128, 254, 255, 31, 32, 64};
    const sample *one = &corpus[below(corpus_n)], *other_one = &corpus[below(corpus_n)];
    current = one->size < other_one->size ? *one : *other_one; /* short inputs are cheap */
    for (uint32_t n = 1 + below(1u << below(4)); n != 0; n--) {
        uint32_t at = current.size == 0 ? 0 : below(current.size), run = 1 + below(8);
        switch (below(8)) {
        case 0: current.data[at] ^= (uint8_t)(1u << below(8)); break;
        case 1: current.data[at] = (uint8_t)draw(&random_state); break;
        case 2: current.data[at] = telling[below(sizeof telling)]; break;
        case 3: current.data[at] = (uint8_t)(current.data[at] + below(17) - 8); break;
        case 4: /* insert */
            if (current.size + run <= INPUT_MOST) {
                memmove(current.data + at + run, current.data + at, current.size - at);
                for (uint32_t i = 0; i < run; i++) {
                    current.data[at + i] = (uint8_t)draw(&random_state);
                }
                current.size += run;
            }
            break;
        case 5: /* leave out */
            run = run < current.size - at ? run : current.size - at;
            memmove(current.data + at, current.data + at + run, current.size - at - run);
            current.size -= run;
            break;
        case 6: { /* the end of another input */
            const sample *other = &corpus[below(corpus_n)];
            uint32_t from = other->size == 0 ? 0 : below(other->size), size = other->size - from;
            size = size < INPUT_MOST - at ? size : INPUT_MOST - at;
            memcpy(current.data + at, other->data + from, size);
            current.size = at + size > current.size ? at + size : current.size;
            break;
        }
        default:
            current.data[0] = (uint8_t)below(8); /* another target with the same bytes */
            current.size = current.size == 0 ? 1 : current.size;
        }
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (file == 0) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(2);
    }
    current.size = (uint32_t)fread(current.data, 1, INPUT_MOST, file);
    fclose(file);
    return 1;
}

/* Calls `use` for a file, or for every file of a folder, in the order of names. */
static void for_each(const char *path, void (*use)(void))
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        struct dirent **names;
        int n = scandir(path, &names, 0, by_name);
        for (int i = 0; i < n; i++) {
            if (names[i]->d_name[0] != '.') {
                char name[4096];
                snprintf(name, sizeof name, "%.3000s/%.1000s", path, names[i]->d_name);
                for_each(name, use);
            }
            free(names[i]);
        }
        free(names);
    } else if (load(path)) {
        use();
    }
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(uint32_t seed, uint64_t most, double most_seconds, char **corpora)
{
    double start = seconds_now();
    struct rusage usage;
    random_state = seed * 2654435761u | 1;
    while (*corpora != 0) {
        for_each(*corpora++, keep);
    }
    for (uint32_t target = 0; target < 8; target++) { /* so that every target has a start, also with an empty corpus */
        current.size = 24;
        for (uint32_t i = 0; i < current.size; i++) {
            current.data[i] = (uint8_t)(i == 0 ? target : draw(&random_state));
        }
        keep();
    }
    while (most == 0 || executions < most) {
        mutate();
        execute();
        if (most_seconds > 0 && executions % 256 == 0 && seconds_now() - start > most_seconds) {
            break;
        }
    }
    alarm(0);
    getrusage(RUSAGE_SELF, &usage);
    double took = seconds_now() - start;
    printf("%llu executions in %.0f s (%.0f a second), %u inputs, seed %u, peak %ld KiB, no finding\n",
           (unsigned long long)executions, took, (double)executions / took, (unsigned)corpus_n, (unsigned)seed,
           usage.ru_maxrss);
}

int main(int n, char **a)
{
    if (n >= 6 && strcmp(a[1], "run") == 0) {
        folder = a[5];
        watch();
        run((uint32_t)strtoul(a[2], 0, 10), strtoull(a[3], 0, 10), atof(a[4]), a + 6);
    } else if (n >= 3 && strcmp(a[1], "replay") == 0) {
        for (int i = 2; i < n; i++) {
            for_each(a[i], execute);
        }
        printf("%llu inputs, no finding\n", (unsigned long long)executions);
    } else {
        fprintf(stderr, "see the comment at the top of fuzz_main.c\n");
        return 2;
    }
    return 0;
}
