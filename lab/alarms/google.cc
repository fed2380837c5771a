#include <benchmark/benchmark.h>
extern "C" void arithmetic(), hashing(), memory(), allocation(), calls();
#define KIND(name) static void bench_##name(benchmark::State &state) { for (auto _ : state) name(); } BENCHMARK(bench_##name)
KIND(arithmetic); KIND(hashing); KIND(memory); KIND(allocation); KIND(calls);
BENCHMARK_MAIN();
