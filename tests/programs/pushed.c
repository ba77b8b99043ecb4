/*
 * "pushed": a function that works with an argument pushed for a call, and one that it calls without, at the same SP and in
 * the same page of code. Of the time:
 *
 *   50%  main outer
 *   50%  main outer leaf
 */
extern void outer(unsigned turns);

__asm__(".text\n"
        ".p2align 8\n"
        ".globl outer\n"
        ".type outer, @function\n"
        "outer:\n"
        ".cfi_startproc\n"
        "1: push %rdi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "mov $5000000, %eax\n"
        "2: dec %eax\n"
        "jnz 2b\n"
        "pop %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "call leaf\n"
        "dec %edi\n"
        "jnz 1b\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size outer, . - outer\n"
        ".type leaf, @function\n"
        "leaf:\n"
        ".cfi_startproc\n"
        "mov $5000000, %eax\n"
        "3: dec %eax\n"
        "jnz 3b\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size leaf, . - leaf\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

int main(void)
{
    outer(100);
    return 0;
}
