// Programs with a habit that costs time, and without it: `habits NAME before|after`. Prints the processor time that it and its children used, in ns.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(does_it) do { if (!(does_it)) { perror(#does_it); exit(1); } } while (0)
#define MIB (1L << 20)

static char room[MIB];

static int data(void) {
    int file = open("habits.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(file >= 0 && write(file, room, sizeof room) == MIB && lseek(file, 0, SEEK_SET) == 0);
    return file;
}

static void small_reads(int after) {
    int file = data();
    for (int turn = 0; turn < 10; turn++) {
        while (read(file, room, after ? 4096 : 64) > 0) {}
        CHECK(lseek(file, 0, SEEK_SET) == 0);
    }
}

static void nothing_yet(int after) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (int turn = 0; turn < (after ? 1 : 300000); turn++) CHECK(recv(ends[0], room, 1, MSG_DONTWAIT) == -1);
}

static void written_anew(int after) {
    int file = open("/proc/self/status", O_RDONLY);
    for (int turn = 0; turn < (after ? 8000 : 16000); turn++) CHECK(pread(file, room, 4096, 0) > 0);
}

static void reopened(int after) {
    int file = data();
    for (int turn = 0; turn < 40000; turn++) {
        if (!after) file = open("habits.data", O_RDONLY);
        CHECK(pread(file, room, 64, 0) == 64);
        if (!after) close(file);
    }
}

static void missing(int after) {
    struct stat about;
    for (int turn = 0; turn < (after ? 1 : 100000); turn++) CHECK(stat("missing", &about) == -1);
}

static void clocks(int after) {
    struct timespec now;
    for (int turn = 0; turn < 300000; turn++)
        CHECK((after ? clock_gettime(CLOCK_MONOTONIC, &now) : syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now)) == 0);
}

static void same(int after) {
    for (int turn = 0; turn < (after ? 1 : 500000); turn++) CHECK(syscall(SYS_getppid) > 0);
}

static void polled(int after) {
    int ends[2];
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    struct pollfd readable = {.fd = ends[0], .events = POLLIN};
    for (int turn = 0; turn < 100000; turn++) {
        CHECK(write(ends[1], room, 1) == 1);
        if (!after) CHECK(poll(&readable, 1, -1) == 1);
        CHECK(read(ends[0], room, 1) == 1);
    }
}

static void sought(int after) {
    int file = data();
    for (int turn = 0; turn < 200000; turn++) {
        if (after) CHECK(pread(file, room, 1, 0) == 1);
        else CHECK(lseek(file, 0, SEEK_SET) == 0 && read(file, room, 1) == 1);
    }
}

static void short_lived(int after) {
    for (int turn = 0; turn < (after ? 0 : 100); turn++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/true", "true", NULL);
            _exit(1);
        }
        CHECK(waitpid(child, NULL, 0) == child);
    }
}

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int in_turn, waiting;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

// Two threads hand over to each other: one thing at a time, or a hundred.
static void *hand_over(void *own) {
    int mine = own != NULL;
    for (int turn = 0; turn < waiting; turn++) {
        pthread_mutex_lock(locks);
        while (in_turn != mine) pthread_cond_wait(&turned, locks);
        in_turn = !mine;
        pthread_cond_signal(&turned);
        pthread_mutex_unlock(locks);
    }
    return NULL;
}

static void waiting_threads(int after) {
    pthread_t other;
    waiting = after ? 300 : 30000;
    CHECK(pthread_create(&other, NULL, hand_over, room) == 0);
    hand_over(NULL);
    pthread_join(other, NULL);
}

// Of the files, every other one's attributes are needed.
static void asked_first(int after) {
    struct stat about;
    close(data());
    for (int turn = 0; turn < 60000; turn++) {
        if (!after) CHECK(stat("habits.data", &about) == 0);
        int file = open("habits.data", O_RDONLY);
        if (after && turn % 2) CHECK(fstat(file, &about) == 0);
        close(file);
    }
}

static void small_pages(int after) {
    char *memory = mmap(NULL, 260 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && madvise(memory, 260 * MIB, after ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0);
    for (long at = 0; at < 260 * MIB; at += 4096) memory[at] = 1;
}

static long now(void) {
    struct timespec used;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
    return used.tv_sec * 1000000000 + used.tv_nsec;
}

// What small pages take, and what huge ones do, the least of some turns in one process.
static void pages_by_turns(int after) {
    long least[2] = {1L << 60, 1L << 60};
    for (int turn = 0; turn < 12; turn++) {
        long start = now();
        char *memory = mmap(NULL, 260 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED && madvise(memory, 260 * MIB, turn % 2 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0);
        for (long at = 0; at < 260 * MIB; at += 4096) memory[at] = 1;
        CHECK(munmap(memory, 260 * MIB) == 0);
        long took = now() - start;
        if (took < least[turn % 2]) least[turn % 2] = took;
    }
    printf("%ld\n", least[after]);
    exit(0);
}

static void given_back(int after) {
    char *memory = MAP_FAILED;
    for (int turn = 0; turn < 500; turn++) {
        if (!after || turn == 0) memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        for (long at = 0; at < MIB; at += 4096) memory[at] = 1;
        if (!after) CHECK(munmap(memory, MIB) == 0);
    }
}

static void on_cpu(int number) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(number, &cpus);
    CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
}

static void far_wakes(int after) {
    int there[2], back[2], size = after ? 10 : 1;
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    on_cpu(child != 0);
    for (int turn = 0; turn < 10000 / size; turn++)
        if (child == 0) CHECK(read(there[0], room, size) == size && write(back[1], room, size) == size);
        else CHECK(write(there[1], room, size) == size && read(back[0], room, size) == size);
    if (child == 0) _exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
}

// What kind each entry of a folder is: by a look-up of each, or by the listing.
static void looked_up(int after) {
    struct stat about;
    for (int turn = 0; turn < 4000; turn++) {
        DIR *folder = opendir("/proc/self/attr");
        if (folder == NULL) folder = opendir("/");
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
            if (!after) fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW);
        closedir(folder);
    }
}

int main(int count, char **words) {
    static const struct { const char *name; void (*does)(int); } all[] = {
        {"small-reads", small_reads}, {"nothing-yet", nothing_yet}, {"written-anew", written_anew}, {"reopened", reopened},
        {"missing", missing}, {"clocks", clocks}, {"same", same}, {"polled", polled}, {"sought", sought}, {"short-lived", short_lived},
        {"waiting-threads", waiting_threads}, {"asked-first", asked_first}, {"small-pages", small_pages}, {"given-back", given_back},
        {"far-wakes", far_wakes}, {"looked-up", looked_up}, {"pages-by-turns", pages_by_turns},
    };
    for (size_t it = 0; count == 3 && it < sizeof all / sizeof *all; it++)
        if (strcmp(words[1], all[it].name) == 0) {
            struct rusage of_children;
            all[it].does(strcmp(words[2], "after") == 0);
            long own = now();
            CHECK(getrusage(RUSAGE_CHILDREN, &of_children) == 0);
            long children = of_children.ru_utime.tv_sec + of_children.ru_stime.tv_sec;
            children = children * 1000000 + of_children.ru_utime.tv_usec + of_children.ru_stime.tv_usec;
            printf("%ld\n", own + children * 1000);
            unlink("habits.data");
            return 0;
        }
    fprintf(stderr, "usage: habits NAME before|after\n");
    return 2;
}
