// nanobench's compare() of one kind from two shared objects: nano OLD.so NEW.so KIND prints the verdict and the interval of the ratio.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <cstdio>
#include <dlfcn.h>

int main(int count, char **words) {
    if (count != 4) return 2;
    void (*kinds[2])();
    for (int i = 0; i < 2; i++) {
        void *object = dlopen(words[1 + i], RTLD_NOW | RTLD_LOCAL);
        void *kind = object ? dlsym(object, words[3]) : nullptr;
        if (!kind) return 1;
        kinds[i] = reinterpret_cast<void (*)()>(kind);
    }
    auto bench = ankerl::nanobench::Bench().output(nullptr).epochs(1000);
    auto found = bench.compare("old", [&] { kinds[0](); }, "new", [&] { kinds[1](); });
    // Its figure is how many times as fast the new one is.
    std::printf("%d %.9f %.9f\n", found.isSignificant(1), 1 / found[1].relativeHigh, 1 / found[1].relativeLow);
}
