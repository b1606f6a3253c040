/*
 * A wall clock that can be set without being root: preloaded, it moves CLOCK_REALTIME of one program.
 *
 *     cc -shared -fPIC -o clock.so clock.c
 *     FAKE_CLOCK_FILE=offset LD_PRELOAD=./clock.so program
 *
 * The file holds seconds as text, "-3600" for a clock an hour behind; it is read at each call. Without a file
 * the clock is the machine's. The monotonic clock is never touched, as when an administrator sets the time.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    long failed = syscall(SYS_clock_gettime, clock, now);
    const char *path = getenv("FAKE_CLOCK_FILE");
    if (failed || clock != CLOCK_REALTIME || !path) return (int)failed;
    FILE *file = fopen(path, "r");
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    now->tv_sec += seconds;
    return 0;
}
