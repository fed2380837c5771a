/* Benchmarks in C and C++ (GCC, Clang) for howslow; the protocol is in docs/BENCH.md. In one file of the program:
 *
 *     #define HOWSLOW_BENCH_MAIN
 *     #include "howslow_bench.h"
 *
 *     HOWSLOW_BENCH(sum) {
 *         int numbers[100] = {1};                 // set-up
 *         HOWSLOW_REPEAT {                        // what is timed
 *             int sum = 0;
 *             for (int i = 0; i < 100; i++) sum += numbers[i];
 *             howslow_keep(&sum);
 *         }
 *     }                                           // tear-down is what follows the loop
 *
 * Compile it with -O2 and run it: with howslow on PATH it is measured by howslow, otherwise plain times are printed.
 * `howslow time --bench OLD NEW` compares two builds. */
#ifndef HOWSLOW_BENCH_H
#define HOWSLOW_BENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct howslow_benchmark {
    const char *name;
    void (*run)(void);
    struct howslow_benchmark *next;
};

void howslow_add(struct howslow_benchmark *one);
/* Ends a batch, if one runs, and waits for the next; 0 if there is none. */
int howslow_batch(void);
/* Begins a batch and returns its iterations. */
uint64_t howslow_begin(void);

/* The compiler must have computed what this points to. */
static inline void howslow_keep(const void *value) { __asm__ volatile("" : : "g"(value) : "memory"); }

#ifdef __cplusplus
}
#endif

/* Defines a benchmark. */
#define HOWSLOW_BENCH(NAME)                                                                       \
    static void howslow_run_##NAME(void);                                                         \
    __attribute__((constructor)) static void howslow_add_##NAME(void) {                           \
        static struct howslow_benchmark one = {#NAME, howslow_run_##NAME, 0};                     \
        howslow_add(&one);                                                                        \
    }                                                                                             \
    static void howslow_run_##NAME(void)

/* Repeats what follows, timed, as often as it is asked for. */
#define HOWSLOW_REPEAT                                                                            \
    while (howslow_batch())                                                                       \
        for (uint64_t howslow_left = howslow_begin(); howslow_left; howslow_left--)

#ifdef HOWSLOW_BENCH_MAIN

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <unistd.h>
#define HOWSLOW_HAS_PIPES
#endif

static struct howslow_benchmark *howslow_all;
static FILE *howslow_requests, *howslow_answers; /* null: plain times */
static struct {
    uint64_t times, start, processor;
    int running, ready, taken;
    double least, spent;
} howslow_state;

static uint64_t howslow_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void howslow_add(struct howslow_benchmark *one) {
    struct howslow_benchmark **end = &howslow_all;
    while (*end) end = &(*end)->next;
    *end = one;
}

/* A request of howslow; 0 if it has gone or wants no more. */
static int howslow_requested(void) {
    char line[256];
    while (fgets(line, sizeof line, howslow_requests)) {
        if (sscanf(line, "run %llu", (unsigned long long *)&howslow_state.times) == 1) return 1;
        if (!strncmp(line, "drop", 4)) return 0;
        fputs(strncmp(line, "count", 5) ? "failed no such request\n" : "counted\n", howslow_answers);
        fflush(howslow_answers);
    }
    return 0;
}

/* Doubles the iterations until a batch takes a millisecond, then takes batches for half a second. */
static int howslow_plain(double took) {
    if (howslow_state.running) {
        howslow_state.spent += took;
        if (took < 1e6 && !howslow_state.taken && howslow_state.times < (uint64_t)1 << 40) {
            howslow_state.times *= 2;
        } else {
            double each = took / (double)howslow_state.times;
            if (!howslow_state.taken++ || each < howslow_state.least) howslow_state.least = each;
        }
    } else {
        howslow_state.times = 1;
    }
    return !(howslow_state.taken && howslow_state.spent > 5e8);
}

int howslow_batch(void) {
    uint64_t took = howslow_state.running ? howslow_now(CLOCK_MONOTONIC) - howslow_state.start : 0;
    if (!howslow_answers) {
        int more = howslow_plain((double)took);
        howslow_state.running = more;
        return more;
    }
    if (howslow_state.running) {
        uint64_t processor = howslow_now(CLOCK_PROCESS_CPUTIME_ID) - howslow_state.processor;
        fprintf(howslow_answers, "ran %llu cpu=%llu\n", (unsigned long long)took, (unsigned long long)processor);
    } else {
        fputs("ready\n", howslow_answers);
        howslow_state.ready = 1;
    }
    fflush(howslow_answers);
    howslow_state.running = howslow_requested();
    return howslow_state.running;
}

uint64_t howslow_begin(void) {
    uint64_t times = howslow_state.times;
    howslow_state.processor = howslow_now(CLOCK_PROCESS_CPUTIME_ID);
    howslow_state.start = howslow_now(CLOCK_MONOTONIC);
    return times;
}

static void howslow_empty(void) {
    HOWSLOW_REPEAT { __asm__ volatile(""); }
}

static void howslow_run(void (*run)(void)) {
    memset(&howslow_state, 0, sizeof howslow_state);
    run();
}

static void howslow_prepare(const char *name) {
    struct howslow_benchmark *one = howslow_all;
    while (one && strcmp(one->name, name)) one = one->next;
    if (!one && strcmp(name, "-")) {
        fputs("failed there is no such benchmark\n", howslow_answers);
    } else {
        howslow_run(one ? one->run : howslow_empty);
        fputs(howslow_state.ready ? "dropped\n" : "failed it returned without HOWSLOW_REPEAT\n", howslow_answers);
    }
    fflush(howslow_answers);
}

#ifdef HOWSLOW_HAS_PIPES
static int howslow_serve(const char *descriptors) {
    int in, out;
    char line[1024];
    const char *shift = getenv("HOWSLOW_BENCH_SHIFT");
    void *volatile moves_the_heap = malloc(shift ? 16 * strlen(shift) + 1 : 1);
    if (sscanf(descriptors, "%d,%d", &in, &out) != 2 || !(howslow_requests = fdopen(in, "r")) ||
        !(howslow_answers = fdopen(out, "w"))) {
        fprintf(stderr, "HOWSLOW_BENCH=%s: howslow sets it to two descriptors; unset it to run by hand\n", descriptors);
        return 2;
    }
    (void)moves_the_heap;
    fcntl(in, F_SETFD, FD_CLOEXEC);
    fcntl(out, F_SETFD, FD_CLOEXEC);
    fputs("howslow-bench 1 c 0.1.0\n", howslow_answers);
    fflush(howslow_answers);
    while (fgets(line, sizeof line, howslow_requests)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "list")) {
            for (struct howslow_benchmark *one = howslow_all; one; one = one->next)
                fprintf(howslow_answers, "bench %s\n", one->name);
            fputs("end\n", howslow_answers);
            fflush(howslow_answers);
        } else if (!strncmp(line, "prepare ", 8)) {
            howslow_prepare(line + 8);
        } else if (!strcmp(line, "quit")) {
            break;
        } else {
            fputs("failed no such request\n", howslow_answers);
            fflush(howslow_answers);
        }
    }
    return 0;
}

/* Starts howslow in place of this program, with its options. Returns if there is no howslow. */
static void howslow_hand_over(int count, char **words) {
    const char *program = getenv("HOWSLOW") ? getenv("HOWSLOW") : "howslow";
    char **all = (char **)calloc((size_t)count + 4, sizeof *all);
    if (!all || !*program) return;
    all[0] = (char *)program;
    all[1] = (char *)"time";
    all[2] = (char *)"--bench";
    for (int i = 0; i < count; i++) all[3 + i] = words[i];
#ifdef __linux__
    /* One that was found along PATH has no path in its name. */
    static char self[4096];
    if (!strchr(words[0], '/') && readlink("/proc/self/exe", self, sizeof self - 1) > 0) all[3] = self;
#endif
    execvp(program, all);
    free(all);
}
#endif

int main(int count, char **words) {
#ifdef HOWSLOW_HAS_PIPES
    const char *descriptors = getenv("HOWSLOW_BENCH");
    if (descriptors) return howslow_serve(descriptors);
    if (count == 2 && !strcmp(words[1], "--list")) {
        for (struct howslow_benchmark *one = howslow_all; one; one = one->next) puts(one->name);
        return 0;
    }
    howslow_hand_over(count, words);
    if (count > 1) {
        fprintf(stderr, "%s is an option of howslow, which is not on PATH; install it or set HOWSLOW\n", words[1]);
        return 2;
    }
#else
    (void)count, (void)words;
#endif
    for (struct howslow_benchmark *one = howslow_all; one; one = one->next) {
        howslow_run(one->run);
        printf("%s: %.3f ns (least)\n", one->name, howslow_state.least);
    }
    puts("Plain times; with howslow on PATH they have intervals, and two builds can be compared.");
    return 0;
}

#endif
#endif
