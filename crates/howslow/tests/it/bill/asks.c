// Programs that ask one thing of the kernel, again and again: `asks NAME TIMES [MIB]`, with so
// many MiB of memory where it asks for memory. A bill of each shows whether that thing has the right price.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(does_it) do { if (!(does_it)) { perror(#does_it); exit(1); } } while (0)
#define MIB (1L << 20)

static char *memory(size_t size, int advice) {
    char *room = mmap(NULL, size + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(room != MAP_FAILED);
    room = (char *)(((size_t)room + 2 * MIB - 1) & ~(2 * MIB - 1));
    CHECK(madvise(room, size, advice) == 0);
    return room;
}

static long size;

static void huge(long times) {
    for (long turn = 0; turn < times; turn++) {
        char *room = memory(size * MIB, MADV_HUGEPAGE);
        for (long at = 0; at < size * MIB; at += 4096) room[at] = 1;
        CHECK(munmap(room, size * MIB) == 0);
    }
}

static void preadv_large(long times) {
    int file = open("asks.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    static char room[MIB];
    memset(room, 1, sizeof room);
    CHECK(file >= 0 && write(file, room, sizeof room) == MIB);
    struct iovec whole = {room, sizeof room};
    for (long turn = 0; turn < times; turn++) CHECK(preadv(file, &whole, 1, 0) == MIB);
    CHECK(unlink("asks.data") == 0);
}

static void status(long times) {
    int file = open("/proc/self/status", O_RDONLY);
    char room[4096];
    for (long turn = 0; turn < times; turn++)
        CHECK(lseek(file, 0, SEEK_SET) == 0 && read(file, room, sizeof room) > 0);
}

static int listener(struct sockaddr_in *place) {
    int ear = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof *place;
    *place = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(bind(ear, (struct sockaddr *)place, size) == 0 && listen(ear, 4096) == 0);
    CHECK(getsockname(ear, (struct sockaddr *)place, &size) == 0);
    return ear;
}

// Each connection is accepted, and both ends are closed.
static void connections(long times) {
    struct sockaddr_in place;
    int ear = listener(&place);
    for (long turn = 0; turn < times; turn++) {
        int line = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(connect(line, (struct sockaddr *)&place, sizeof place) == 0);
        int other = accept(ear, NULL, NULL);
        CHECK(other >= 0 && close(line) == 0 && close(other) == 0);
    }
}

static void copies(long times) {
    char *room = memory(size * MIB, MADV_NOHUGEPAGE);
    for (long at = 0; at < size * MIB; at += 4096) room[at] = 1;
    for (long turn = 0; turn < times; turn++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    }
}

static void ping_pong(long times) {
    int there[2], back[2];
    char byte = 1;
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    for (long turn = 0; turn < times; turn++)
        if (child == 0) CHECK(read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
        else CHECK(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
    if (child == 0) _exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
}

static void pages_through_a_pipe(long times) {
    int ends[2];
    char room[4096] = {0};
    CHECK(pipe(ends) == 0);
    for (long turn = 0; turn < times; turn++)
        CHECK(write(ends[1], room, sizeof room) == 4096 && read(ends[0], room, sizeof room) == 4096);
}

static void nothing_yet(long times) {
    int ends[2];
    char byte;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (long turn = 0; turn < times; turn++)
        CHECK(recv(ends[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
}

static void there_already(long times) {
    for (long turn = 0; turn < times; turn++) {
        int file = open("asks.data", O_WRONLY | O_CREAT, 0600);
        CHECK(file >= 0 && close(file) == 0);
    }
    CHECK(unlink("asks.data") == 0);
}

// 100 calls, then some 10 ms of work, so that there are 10,000 calls a second. Prints its processor time in ns.
static void steady(long times) {
    volatile unsigned long sum = 0;
    struct timespec used;
    for (long turn = 0; turn < times; turn++) {
        for (int call = 0; call < 100; call++) syscall(SYS_getppid);
        for (long work = 0; work < 35000000; work++) sum += work;
    }
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
    printf("%ld\n", used.tv_sec * 1000000000 + used.tv_nsec);
}

int main(int count, char **words) {
    static const struct { const char *name; void (*does)(long); long mib; } all[] = {
        {"huge", huge, 256}, {"preadv", preadv_large}, {"status", status}, {"connect", connections}, {"fork", copies, 1024},
        {"ping-pong", ping_pong}, {"pipe", pages_through_a_pipe}, {"eagain", nothing_yet}, {"creat", there_already}, {"steady", steady},
    };
    for (size_t it = 0; count >= 3 && it < sizeof all / sizeof *all; it++)
        if (strcmp(words[1], all[it].name) == 0) {
            size = count > 3 ? atol(words[3]) : all[it].mib;
            all[it].does(atol(words[2]));
            return 0;
        }
    fprintf(stderr, "usage: asks NAME TIMES [MIB]\n");
    return 2;
}
