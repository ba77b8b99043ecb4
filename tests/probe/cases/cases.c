/* cases.c - see cases.h: running a case, and the witness. */
#include "tests/probe/cases/cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#define FRAMES_MAX 32
#define STACK_MAX  (64u << 20) /* bytes: further apart, frames are on two stacks */

extern void *__libc_stack_end; /* glibc's: SP as the process began */

struct seen {
    char names[FRAMES_MAX][32]; /* "": not the program's */
    uintptr_t cfas[FRAMES_MAX];
    int count;
};

/* What the unwinder calls a frame's CFA is the SP at its call: the CFA of the frame before. */
_Unwind_Reason_Code witness_frame(struct _Unwind_Context *context, void *to)
{
    struct seen *seen = to;
    int before = 0;
    Dl_info info;
    uintptr_t ip = _Unwind_GetIPInfo(context, &before), sp = _Unwind_GetCFA(context);
    if (seen->count)
        seen->cfas[seen->count - 1] = sp;
    if (seen->count == FRAMES_MAX || (seen->count > 1 && sp - seen->cfas[seen->count - 2] > STACK_MAX))
        return _URC_END_OF_STACK;
    char *name = seen->names[seen->count++];
    *name = '\0';
    if (dladdr((void *)(ip - !before), &info) && strstr(info.dli_fname, "case_") &&
        !(info.dli_sname && strcmp(info.dli_sname, "_start") == 0))
        snprintf(name, sizeof seen->names[0], "%s", info.dli_sname ? info.dli_sname : "?");
    return _URC_NO_REASON;
}

void witness(void)
{
    struct seen seen = {.count = 0};
    _Unwind_Backtrace(witness_frame, &seen);
    int first = seen.count - 1, last = 1; /* frame 0 is this one */
    while (first > last && !*seen.names[first])
        first--;
    flockfile(stdout);
    if (strcmp(seen.names[first], "main") == 0)
        printf("base %zu\n", (uintptr_t)__libc_stack_end - seen.cfas[first]);
    printf("witness %zu ", seen.cfas[first] - seen.cfas[last]);
    for (int i = first; i >= last; i--) {
        if (*seen.names[i])
            printf("%s%s", i == first ? "" : ";", seen.names[i]);
    }
    puts("");
    fflush(stdout);
    funlockfile(stdout);
}

int main(int count, char **arguments)
{
    const struct known_case *c = cases;
    while (c->name && (count < 2 || strcmp(c->name, arguments[1]) != 0))
        c++;
    int status = c->name ? c->run(count > 2 ? arguments[2] : "") : 99;
    CALLED();
    return status;
}
