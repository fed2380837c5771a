// Five kinds of code, each 20 to 60 us a call. MORE is a share of a thousand that is done in addition: 0, or 30 for 3 %.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MORE
#define MORE 0
#endif
#define TIMES(n) ((n) + (n) * MORE / 1000)

static volatile uint64_t sink;

void arithmetic(void) {
    uint64_t x = sink;
    for (int i = 0; i < TIMES(24000); i++) x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

void hashing(void) {
    uint64_t hash = 14695981039346656037u, odd = 0;
    for (int i = 0; i < TIMES(10000); i++) {
        hash = (hash ^ (uint64_t)(i * 2654435761u)) * 1099511628211u;
        if (hash & 4096) odd += hash >> 7; else odd ^= hash;
    }
    sink = odd;
}

// Loads that depend on each other, all over 16 MiB, of which every page is there.
static uint32_t ring[4 << 20];
void memory(void) {
    enum { WORDS = sizeof ring / sizeof *ring, PAGE = 1024 };
    static uint32_t ready, at = 1;
    for (; ready < WORDS; ready += PAGE) ring[ready] = 1;
    for (int i = 0; i < TIMES(1000); i++) at = ring[at % WORDS] + at * 1664525u + 1013904223u;
    sink = at;
}

void allocation(void) {
    void *held[64];
    for (int i = 0; i < TIMES(1000); i++) {
        if (i >= 64) free(held[i % 64]);
        held[i % 64] = memset(malloc(16 + i * 37 % 2000), 1, 16);
    }
    for (int i = 0; i < 64; i++) free(held[i]);
}

void calls(void) {
    for (int i = 0; i < TIMES(300); i++) sink += (uint64_t)syscall(SYS_getppid);
}
