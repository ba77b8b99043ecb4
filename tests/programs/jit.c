/*
 * Code that no file has, as just-in-time compilers make it: it spends time of its own, and calls back into the
 * program. With an argument the memory is made executable only when the code is in it. Of the time:
 *
 *   40%  main enter (the code) back work
 *   40%  main enter (the code)
 *   20%  main direct
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "program.h"

typedef void code_fn(void (*call)(unsigned ms), uint64_t (*now)(void));

/* Works for 20 ms, and calls for 20 ms more. Among the constants, where it is no function of the program's. */
__asm__(".pushsection .rodata\n"
        "code_start:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    mov %rdi, %r12\n"
        "    mov %rsi, %rbx\n"
        "    call *%rbx\n"
        "    lea 20000000(%rax), %rbp\n"
        "1:  mov $100000, %ecx\n"
        "2:  dec %ecx\n"
        "    jnz 2b\n"
        "    call *%rbx\n"
        "    cmp %rbp, %rax\n"
        "    jb 1b\n"
        "    mov $20, %edi\n"
        "    call *%r12\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        "code_end:\n"
        ".popsection\n");
extern const char code_start[], code_end[];

KNOWN static void work(unsigned ms)
{
    spin(ms);
}

KNOWN static void back(unsigned ms)
{
    work(ms);
    CALLED();
}

KNOWN static void direct(unsigned ms)
{
    spin(ms);
}

KNOWN static void enter(code_fn *code)
{
    code(back, thread_ns);
    CALLED();
}

int main(int count, char **arguments)
{
    (void)arguments;
    size_t size = (size_t)(code_end - code_start);
    int later = count > 1 ? 0 : PROT_EXEC;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE | later, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    memcpy(memory, code_start, size);
    if (!later && mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
        perror("mprotect");
        return 1;
    }
    code_fn *code;
    memcpy(&code, &memory, sizeof(code));
    for (int i = 0; i < 30; i++) {
        enter(code);
        direct(10);
    }
    return 0;
}
