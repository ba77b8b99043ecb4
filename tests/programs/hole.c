/*
 * A frame with pages that are never touched, under which all the time goes: main sparse busy. The kernel ends
 * a stack dump at such a page.
 */
#include "program.h"

KNOWN static void busy(void)
{
    spin(500);
    CALLED();
}

KNOWN static void sparse(size_t touched)
{
    char frame[40000];
    frame[touched] = 1;
    __asm__ volatile("" : : "r"(frame) : "memory"); /* so that it is not optimised away */
    busy();
    __asm__ volatile("" : : "r"(frame) : "memory");
}

int main(int argc, char **argv)
{
    (void)argv;
    sparse((size_t)argc);
    CALLED();
    return 0;
}
