/*
 * busy.c - the program that the collector's tests record: "busy MODE MS". It burns MS milliseconds of CPU
 * time per thread and prints, for each stack, "stack TID LOW HIGH": addresses that the stack must hold, HIGH
 * within 256 bytes of its base for threads; the main thread's HIGH is the initial SP (__libc_stack_end).
 *
 * Modes: main (one thread), threads (two more, one with a stack of the caller's in the middle of a larger
 * mapping), fork (the child burns as well), exec (becomes "busy main MS"), calls (no
 * burning: MS times getppid, and as often again in a child).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_stack_end;
static long milliseconds;
static volatile unsigned long sink;

static long cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* goes on over an exec */
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void burn(void)
{
    long end = cpu_time() + milliseconds;
    do
        for (int i = 0; i < 10000; i++)
            sink += (unsigned long)i * i;
    while (cpu_time() < end);
}

static void say(const void *high)
{
    int local;
    printf("stack %ld %lx %lx\n", (long)syscall(SYS_gettid), (unsigned long)(uintptr_t)&local,
           (unsigned long)(uintptr_t)high);
    fflush(stdout);
}

static void *run(void *unused)
{
    say(__builtin_frame_address(0));
    burn();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    milliseconds = strtol(argv[2], NULL, 10);
    if (strcmp(argv[1], "exec") == 0) {
        burn();
        char mode[] = "main";
        char *const again[] = {argv[0], mode, argv[2], NULL};
        execv("/proc/self/exe", again);
        return 3;
    }
    if (strcmp(argv[1], "calls") == 0) {
        pid_t child = fork();
        for (long i = 0; i < milliseconds; i++)
            syscall(SYS_getppid);
        if (child > 0)
            waitpid(child, NULL, 0);
        return child < 0 ? 4 : 0;
    }
    say(__libc_stack_end);
    if (strcmp(argv[1], "threads") == 0) {
        pthread_t thread[2];
        pthread_attr_t attr;
        const size_t size = 256 << 10;
        char *memory = mmap(NULL, 4 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return 4;
        pthread_attr_init(&attr);
        pthread_attr_setstack(&attr, memory + size, size);
        pthread_create(&thread[0], NULL, run, NULL);
        pthread_create(&thread[1], &attr, run, NULL);
        pthread_join(thread[0], NULL);
        pthread_join(thread[1], NULL);
    } else if (strcmp(argv[1], "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            say(__libc_stack_end);
        burn();
        if (child > 0)
            waitpid(child, NULL, 0);
        return 0;
    }
    burn();
    return 0;
}
