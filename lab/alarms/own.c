// The kinds of code for howslow's own harness.
#define HOWSLOW_BENCH_MAIN
#include "howslow_bench.h"
#define KIND(name) void name(void); HOWSLOW_BENCH(bench_##name) { HOWSLOW_REPEAT name(); }
KIND(arithmetic) KIND(hashing) KIND(memory) KIND(allocation) KIND(calls)
