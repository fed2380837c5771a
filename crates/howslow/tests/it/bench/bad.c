HOWSLOW_BENCH(bad_crash) { HOWSLOW_REPEAT { if (++runs > 3) raise(SIGSEGV); } }
HOWSLOW_BENCH(bad_exit) { HOWSLOW_REPEAT { if (++runs > 3) { fputs("no more\n", stderr); exit(7); } } }
HOWSLOW_BENCH(bad_hang) { HOWSLOW_REPEAT { if (++runs > 3) for (;;) __asm__ volatile(""); } }
HOWSLOW_BENCH(bad_fork) { HOWSLOW_REPEAT { if (++runs == 3 && fork() == 0) { pause(); } if (runs > 5) raise(SIGKILL); } }
HOWSLOW_BENCH(bad_empty) { }
