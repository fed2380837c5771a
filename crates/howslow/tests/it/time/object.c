#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile uint64_t total;
void good(void) { for (int i = 0; i < 10; i++) total += i; }
void good_times(uint64_t times) { while (times--) total += times; }
void crash(void) { raise(SIGSEGV); }
void hang(void) { for (;;) total++; }
void leave(void) { exit(0); }
void print(void) { puts("PRINTED"); fflush(stdout); write(2, "PRINTED", 7); }
void copy(void) { fork(); }
void daemon_left(void) {
    static int done;
    if (!done++ && fork() == 0) { setsid(); execlp("sleep", "sleep", "98765", (char *)0); _exit(1); }
}
void handlers(void) {
    for (int i = 1; i < 32; i++) signal(i, SIG_IGN);
    sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, 0);
}
