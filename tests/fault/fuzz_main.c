/* A fuzzer for any compiler: mutates the inputs of a corpus, keeps those that reach new edges of the core, and leaves
 * the input behind when something is found. Edges are counted where the core is compiled with
 * -fsanitize-coverage=trace-pc (gcc and clang); without it the mutation is blind.
 *
 *     fuzz run SEED EXECUTIONS SECONDS FOLDER CORPUS...   until either number is reached (0: no limit)
 *     fuzz replay FILE...                                 run these inputs once (also folders)
 *     fuzz merge INTO FOLDER...                           keep the smallest inputs that reach all that these reach
 *     fuzz - < FILE                                       one input from stdin, as afl-fuzz wants it
 *
 * FOLDER gets the inputs that reached something new and, in a file finding-*, the one that broke a promise; the program
 * then ends with exit code 1 (or the sanitizer's) after a line that begins with FINDING and holds the arguments that
 * replay it. With libFuzzer this file is left out. */
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
void __sanitizer_cov_trace_pc(void);

enum { MAP = 1 << 14, INPUT_MOST = 512, CORPUS_MOST = 4096, HANG_SECONDS = 20 };

typedef struct {
    uint8_t data[INPUT_MOST];
    uint32_t size;
} sample;

static uint8_t seen[MAP], trace[MAP];
static uint16_t touched[MAP];
static uint32_t touched_n, last_edge, edges, random_state;
static sample corpus[CORPUS_MOST], current;
static uint32_t corpus_n;
static volatile uint64_t executions;
static const char *folder = ".";
static uint64_t hang_at;

void __sanitizer_cov_trace_pc(void)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&LLVMFuzzerTestOneInput; /* wherever it is loaded */
    uint32_t edge = (uint32_t)(pc ^ pc >> 13) & (MAP - 1), cell = edge ^ last_edge;
    last_edge = edge >> 1;
    if (trace[cell] == 0) {
        touched[touched_n++] = (uint16_t)cell;
    }
    trace[cell] = (uint8_t)(trace[cell] + (trace[cell] != 255));
}

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

#ifdef FUZZ_WITH_SANITIZERS
void __sanitizer_set_death_callback(void (*callback)(void));
const char *__ubsan_default_options(void);

/* With gcc this sanitizer has a runtime of its own, which knows nothing of the callback: it shall raise SIGABRT. */
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}
#endif

static void watch(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, 0);
    }
#ifdef FUZZ_WITH_SANITIZERS
    signal(SIGSEGV, SIG_DFL); /* the sanitizer's report says more */
    __sanitizer_set_death_callback(write_finding);
#endif
    hang_at = UINT64_MAX;
    alarm(HANG_SECONDS);
}

/* Runs `current`; the number of edge counts never seen before. */
static uint32_t execute(void)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < touched_n; i++) {
        trace[touched[i]] = 0;
    }
    touched_n = last_edge = 0;
    executions++;
    LLVMFuzzerTestOneInput(current.data, current.size);
    for (uint32_t i = 0; i < touched_n; i++) {
        uint8_t n = trace[touched[i]], bit = (uint8_t)(n == 1 ? 1 : n < 8 ? 2 : n < 64 ? 4 : 8); /* how often, in classes */
        edges += seen[touched[i]] == 0;
        fresh += (seen[touched[i]] & bit) == 0;
        seen[touched[i]] |= bit;
    }
    return fresh;
}

static void keep(void)
{
    if (corpus_n < CORPUS_MOST) {
        corpus[corpus_n++] = current;
    } else {
        corpus[below(CORPUS_MOST)] = current;
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

static void run_once(void)
{
    execute();
}

/* A given input is kept if it adds something; a build that does not count edges keeps all. */
static void run_and_keep(void)
{
    if (execute() != 0 || edges == 0) {
        keep();
    }
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_input(const char *into)
{
    char name[4096];
    snprintf(name, sizeof name, "%.4000s/%08x", into, hash_of_current());
    FILE *file = fopen(name, "wb");
    if (file == 0 || fwrite(current.data, 1, current.size, file) != current.size || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", name);
        exit(2);
    }
}

static void run(uint32_t seed, uint64_t most, double most_seconds, char **corpora)
{
    double start = seconds_now();
    struct rusage usage;
    random_state = seed * 2654435761u | 1;
    while (*corpora != 0) {
        for_each(*corpora++, run_and_keep);
    }
    uint32_t given = corpus_n;
    for (uint32_t target = 0; target < 8; target++) { /* so that every target has a start, also with an empty corpus */
        current.size = 24;
        for (uint32_t i = 0; i < current.size; i++) {
            current.data[i] = (uint8_t)(i == 0 ? target : draw(&random_state));
        }
        run_and_keep();
    }
    while (most == 0 || executions < most) {
        mutate();
        if (execute() != 0) {
            keep();
        }
        if (most_seconds > 0 && executions % 256 == 0 && seconds_now() - start > most_seconds) {
            break;
        }
    }
    alarm(0);
    for (uint32_t i = given; edges != 0 && i < corpus_n; i++) {
        current = corpus[i];
        write_input(folder);
    }
    getrusage(RUSAGE_SELF, &usage);
    double took = seconds_now() - start;
    printf("%llu executions in %.0f s (%.0f a second), %u inputs kept, %u edges, seed %u, peak %ld KiB, no finding\n",
           (unsigned long long)executions, took, (double)executions / took, (unsigned)corpus_n, (unsigned)edges, (unsigned)seed,
           usage.ru_maxrss);
}

static int smaller_first(const void *a, const void *b)
{
    const sample *left = a, *right = b;
    return left->size != right->size ? (left->size < right->size ? -1 : 1) : memcmp(left->data, right->data, left->size);
}

/* The corpus, smallest first, without those that add nothing. */
static void merge(const char *into)
{
    uint32_t kept = 0, total = 0;
    qsort(corpus, corpus_n, sizeof *corpus, smaller_first);
    memset(seen, 0, sizeof seen);
    edges = 0;
    for (uint32_t i = 0; i < corpus_n; i++) {
        current = corpus[i];
        if (execute() != 0) {
            write_input(into);
            kept++;
            total += current.size;
        }
    }
    printf("%u of %u inputs kept, %u bytes, %u edges\n", (unsigned)kept, (unsigned)corpus_n, (unsigned)total, (unsigned)edges);
}

int main(int n, char **a)
{
    if (n >= 6 && strcmp(a[1], "run") == 0) {
        folder = a[5];
        watch();
        run((uint32_t)strtoul(a[2], 0, 10), strtoull(a[3], 0, 10), atof(a[4]), a + 6);
    } else if (n >= 3 && strcmp(a[1], "replay") == 0) {
        for (int i = 2; i < n; i++) {
            for_each(a[i], run_once);
        }
        printf("%llu inputs, %u edges, no finding\n", (unsigned long long)executions, (unsigned)edges);
    } else if (n >= 4 && strcmp(a[1], "merge") == 0) {
        for (int i = 3; i < n; i++) {
            for_each(a[i], keep);
        }
        merge(a[2]);
    } else if (n == 2 && strcmp(a[1], "-") == 0) {
#ifdef __AFL_LOOP
        while (__AFL_LOOP(10000)) {
#endif
            ssize_t size = read(0, current.data, INPUT_MOST);
            current.size = size > 0 ? (uint32_t)size : 0;
            execute();
#ifdef __AFL_LOOP
        }
#endif
    } else {
        fprintf(stderr, "see the comment at the top of fuzz_main.c\n");
        return 2;
    }
    return 0;
}
