#define HOWSLOW_BENCH_MAIN
#include "howslow_bench.h"
#include <signal.h>
#ifndef EXTRA
#define EXTRA 0
#endif
static volatile int runs;
static void chain(long count) {
    unsigned long x = 1;
    for (; count; count--) __asm__ volatile("" : "+r"(x));
}
HOWSLOW_BENCH(chain) { HOWSLOW_REPEAT chain(20 * (100 + EXTRA)); }
HOWSLOW_BENCH(nothing) { HOWSLOW_REPEAT __asm__ volatile(""); }
HOWSLOW_BENCH(moves) { HOWSLOW_REPEAT { if (chdir("/")) abort(); } }
HOWSLOW_BENCH(prints) { HOWSLOW_REPEAT { for (int i = 0; i < 100; i++) { puts("PRINTED"); fputs("PRINTED\n", stderr); } } }
HOWSLOW_BENCH(leaks) { HOWSLOW_REPEAT { void *p = malloc(64); howslow_keep(&p); } }
