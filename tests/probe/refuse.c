/* refuse.c - "refuse COMMAND ARGUMENT...": runs it where no memory can be writable and executable. */
#include "tests/probe/refuse.h"

#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    if (count < 2)
        return 99;
    refuse_protection(PROT_WRITE | PROT_EXEC);
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 99;
}
