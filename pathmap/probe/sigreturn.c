/*
 * sigreturn.c - recognises signal handlers by what they return to: code that calls rt_sigreturn.
 *
 * The kernel builds the frame: the return address (SA_RESTORER), then the ucontext, so a handler's CFA is the
 * ucontext's address (arch/x86/include/asm/sigframe.h).
 */
#include "base/raw.h"
#include "pathmap/probe/state.h"

bool signal_return_known(uint64_t site)
{
    for (unsigned i = 0; i < sizeof core.restorers / sizeof *core.restorers; i++)
        if (core.restorers[i] == site)
            return site != 0;
    return false;
}

/* mov $15,%rax or %eax; syscall. Compares byte by byte: mapped memory after a return address may end at any
 * byte. */
static bool calls_sigreturn(const volatile uint8_t *p)
{
    if (p[0] == 0x48) {
        if (p[1] != 0xc7 || p[2] != 0xc0)
            return false;
        p += 3;
    } else if (p[0] == 0xb8) {
        p++;
    } else {
        return false;
    }
    return p[0] == 15 && !p[1] && !p[2] && !p[3] && p[4] == 0x0f && p[5] == 0x05;
}

bool signal_return(uint64_t site)
{
    if (signal_return_known(site))
        return true;
    /* A call that never returns may be the last instruction before an unmapped page. */
    if (site % RAW_PAGE == 0 || !calls_sigreturn((const uint8_t *)site))
        return false;
    for (unsigned i = 0; i < sizeof core.restorers / sizeof *core.restorers; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&core.restorers[i], &none, site, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
    }
    return true;
}
