/*
 * filters.c - seccomp filters; see leave.h. Wraps prctl() and syscall(), with which programs install a filter (libseccomp
 * uses syscall()). A filter installed by a raw syscall instruction is not seen.
 */
#include "pathmap/probe/arguments.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "pathmap/probe/leave.h"
#include "pathmap/probe/notes.h"
#include "base/raw.h"
#include "pathmap/probe/real.h"

/* The number after a name at the start of a line; 0: not found. */
static uint32_t field(const char *text, size_t size, const char *name)
{
    size_t length = raw_length(name);
    uint32_t value = 0;
    for (size_t i = 0; i + length < size; i++) {
        if ((i && text[i - 1] != '\n') || !raw_equal(text + i, name, length))
            continue;
        for (i += length; i < size && (text[i] == '\t' || text[i] == ' '); i++)
            continue;
        for (; i < size && text[i] >= '0' && text[i] <= '9'; i++)
            value = value * 10 + (uint32_t)(text[i] - '0');
        break;
    }
    return value;
}

uint32_t filters_count(void)
{
    char text[4096]; /* about 1.5 KB are used */
    int fd = raw_open("/proc/self/status", O_RDONLY);
    long size = fd < 0 ? 0 : raw_read(fd, text, sizeof text);
    if (fd >= 0)
        raw_close(fd);
    if (size <= 0 || field(text, (size_t)size, "Seccomp:") == SECCOMP_MODE_DISABLED)
        return 0;
    return field(text, (size_t)size, "Seccomp_filters:");
}

static void leave_filter(void)
{
    if (!probe_works())
        return;
    note(NOTE_FILTERS, 0, NULL);
    probe_leave();
}

/* libseccomp probes the kernel's abilities with filters at address 0. */
EXPORT int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
    unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_SECCOMP && (a == SECCOMP_MODE_STRICT || (a == SECCOMP_MODE_FILTER && b)))
        leave_filter();
    return real_resolve()->prctl(option, a, b, c, d);
}

void (*filters_system_call(long number, unsigned long a, unsigned long b, unsigned long c))(void);

/* Called by syscall() below, which then jumps to the function that this returns. */
__attribute__((used, visibility("hidden"))) void (*filters_system_call(long number, unsigned long a,
                                                                       unsigned long b,
                                                                       unsigned long c))(void)
{
    if ((number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c))) ||
        (number == SYS_prctl && a == PR_SET_SECCOMP &&
         (b == SECCOMP_MODE_STRICT || (b == SECCOMP_MODE_FILTER && c))))
        leave_filter();
    return real_resolve()->syscall;
}

/* In assembly, so that it has nothing on the stack during the call: a child may continue on another stack. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n" ARGUMENTS_SAVE "    call filters_system_call\n"
        "    mov %rax, %r11\n" ARGUMENTS_RESTORE "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n");
