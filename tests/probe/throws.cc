/*
 * throws.cc - exceptions through frames whose first instruction, which the probe displaces, is the call that
 * throws; and through deep ordinary ones.
 */
#include <cstdio>
#include <stdexcept>

#ifdef __clang__
#define KNOWN __attribute__((noinline))
#else
#define KNOWN __attribute__((noipa))
#endif

extern "C" {
int call_throws(void);
void do_throw(void);
}

/* At its entry SP is a multiple of 16, since call_throws() has no frame. */
__asm__(".text\n.p2align 4\n.type align_throw, @function\nalign_throw:\n.cfi_startproc\n sub $16, %rsp\n"
        ".cfi_adjust_cfa_offset 16\n call do_throw\n .cfi_endproc\n.size align_throw, . - align_throw\n"
        ".p2align 4\n.globl call_throws\n.type call_throws, @function\ncall_throws:\n.cfi_startproc\n"
        " call align_throw\n mov $1, %eax\n ret\n .cfi_endproc\n.size call_throws, . - call_throws\n");

void do_throw(void)
{
    throw std::runtime_error("thrown");
}

struct counter {
    int *count;
    ~counter()
    {
        ++*count;
    }
};

KNOWN int deep(int n, int *count)
{
    counter c{count};
    return n == 0 ? call_throws() : deep(n - 1, count) + 1;
}

int main()
{
    int count = 0, caught = 0;
    for (int i = 0; i < 20; i++) {
        try {
            deep(i, &count);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("%d %d\n", count, caught);
    return 0;
}
