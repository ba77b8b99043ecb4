/* syscall_loop.c - calls getppid N times, for the cost of a sample at each call: "syscall_loop N". */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 0;
    for (long i = 0; i < calls; i++)
        syscall(SYS_getppid);
    return 0;
}
